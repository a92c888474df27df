import ArgumentParser
import Catalog

/// How many items may be unreadable, on the command line: `10%`, or a number of items.
struct MaxSkippedArgument: ExpressibleByArgument, Sendable, CustomStringConvertible {
  let limit: SkipLimit

  init(limit: SkipLimit) {
    self.limit = limit
  }

  init?(argument: String) {
    guard argument.first?.isNumber == true else { return nil }
    if argument.hasSuffix("%") {
      guard let share = Double(argument.dropLast()), (0...100).contains(share) else { return nil }
      limit = .percent(share)
    } else {
      guard let most = Int(argument) else { return nil }
      limit = .count(most)
    }
  }

  /// As it may be written.
  var description: String {
    switch limit {
    case .percent(let share):
      share == share.rounded() ? "\(Int(share))%" : "\(share)%"
    case .count(let most): "\(most)"
    }
  }
}
