import ArgumentParser
import Foundation

/// What the embedded origin of `bench --origin sample` serves, and how quickly.
struct OriginOptions: ParsableArguments {
  /// The origins that there are.
  enum Origin: String, ExpressibleByArgument, CaseIterable {
    case sample
  }

  @Option(help: ArgumentHelp("Measure the embedded store: sample.", valueName: "sample"))
  var origin: Origin?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How many pictures it has. (default: 1000)", valueName: "n"),
    transform: WholeNumber.reader(1...1_000_000)
  )
  var count = 1000

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How big they are, such as 500K. (default: 8K..40K)", valueName: "size"),
    transform: SizesArgument.read
  )
  var sizes = SizesArgument(8 << 10...40 << 10)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long it waits before each picture. (default: not at all)",
      valueName: "time"
    ),
    transform: DurationArgument.read
  )
  var delay: DurationArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "What its line carries in all, such as 10M/s. (default: no limit)",
      valueName: "size/s"
    ),
    transform: BandwidthArgument.read
  )
  var bandwidth: BandwidthArgument?

  mutating func validate() throws {
    if let delay, delay.seconds > 60 { throw ValidationError("--delay takes 60s at most") }
  }

  /// Whether the embedded origin is to be measured.
  var isAsked: Bool { origin != nil }
}

/// Sizes on the command line: `500K`, or `8K..40K` for anything between.
struct SizesArgument: UnitArgument, CustomStringConvertible {
  static let forms = "64B, 500K or 8K..40K, up to 64M"

  let bytes: ClosedRange<Int>

  init(_ bytes: ClosedRange<Int>) {
    self.bytes = bytes
  }

  init?(argument: String) {
    let parts = argument.components(separatedBy: "..").map { SizeArgument(argument: $0) }
    guard parts.count <= 2, let first = parts[0]?.bytes.count,
      let last = parts[parts.count - 1]?.bytes.count,
      first <= last, (64...64 << 20).contains(first), last <= 64 << 20
    else { return nil }
    bytes = Int(first)...Int(last)
  }

  var description: String {
    bytes.count == 1
      ? Self.text(bytes.lowerBound)
      : "\(Self.text(bytes.lowerBound))..\(Self.text(bytes.upperBound))"
  }

  /// A size as it may be written.
  private static func text(_ bytes: Int) -> String {
    bytes.isMultiple(of: 1 << 10) ? "\(bytes >> 10)K" : "\(bytes)B"
  }
}

/// Bytes a second on the command line: `10M/s`.
struct BandwidthArgument: UnitArgument {
  static let forms = "500K/s or 10M/s"

  let bytesPerSecond: Double

  init?(argument: String) {
    guard argument.hasSuffix("/s"),
      let bytes = SizeArgument(argument: String(argument.dropLast(2)))?.bytes
    else { return nil }
    bytesPerSecond = Double(bytes.count)
  }
}
