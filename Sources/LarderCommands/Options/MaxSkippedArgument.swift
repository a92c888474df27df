import ArgumentParser
import Catalog

/// How many items may be unreadable, on the command line: `10%`, or a number of items.
struct MaxSkippedArgument: Sendable, CustomStringConvertible {
  let limit: SkipLimit

  init(limit: SkipLimit) {
    self.limit = limit
  }

  /// Reads the option's value.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  static func read(_ argument: String) throws -> MaxSkippedArgument {
    guard let limit = limit(argument) else {
      throw ValidationError("it takes a share from 0% to 100%, or a number of items")
    }
    return MaxSkippedArgument(limit: limit)
  }

  private static func limit(_ argument: String) -> SkipLimit? {
    guard argument.first?.isNumber == true else { return nil }
    guard argument.hasSuffix("%") else { return Int(argument).map(SkipLimit.count) }
    guard let share = Double(argument.dropLast()), (0...100).contains(share) else { return nil }
    return .percent(share)
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
