import ArgumentParser
import Base
import Bench
import Foundation

/// The options of `bench`.
struct BenchOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The passes to report. (default: cold,warm,revalidate)",
      valueName: "passes"
    ),
    transform: PassesArgument.read
  )
  var pass = Pass.allCases

  @Option(
    "Simultaneous transfers, such as 1,4,16, or auto: 1, 2, 4 … 128 while the rate rises. (default: auto)",
    value: "n,…|auto",
    read: SweepArgument.read
  )
  var parallel: SweepPlan?

  @Option("Repeat each pass exactly N times.", value: "n", read: WholeNumber.reader(1...1000))
  var runs: Int?

  @Option(
    "Repeat until the rate is known to within this, with 95 % confidence. (default: 5%)",
    value: "percent",
    read: PercentArgument.read
  )
  var precision = 0.05

  @Flag(
    inversion: .prefixedNo,
    help: """
      Measure transfers only: discard the bodies instead of writing a cache. (default: discard for URLs, write for \
      a catalog)
      """
  )
  var discard: Bool?

  @Option(
    "Start requests at this rate, such as 200/s, and measure from the planned start.",
    value: "n/s",
    read: RateArgument.read
  )
  var rate: RateArgument?

  @Option(
    "Start no measurement after this time, such as 10m.",
    value: "time",
    read: DurationArgument.read
  )
  var deadline: DurationArgument?

  @Option(path: "Write a page with plots.", value: "file")
  var html: String?

  @Option(path: "Compare with an earlier result, written by --json.", value: "file")
  var baseline: String?

  @Option(
    "The largest allowed regression from the baseline. (default: 10%)",
    value: "percent",
    read: PercentArgument.read
  )
  var maxRegression = 0.1

  @Option(path: "Where the temporary folder is made (default: TMPDIR).", value: "dir")
  var scratch: String?

  @OptionGroup(title: Topic.scope) var scope: ScopeOptions
  @OptionGroup(title: Topic.connection) var connection: ConnectionOptions

  /// The plan of the measurement.
  ///
  /// Its deadline counts from `now`.
  func plan(at now: MonotonicTime, forURLs isURLs: Bool, count: Int?) -> BenchPlan {
    var plan = BenchPlan()
    plan.passes = pass
    plan.sink = discard ?? isURLs ? .discard : .cache
    plan.count = count
    plan.rate = rate?.perSecond
    // With `--rate`, only one number of connections is measured. It is large enough for every usual rate.
    plan.sweep = parallel ?? (rate == nil ? .auto() : .levels([64]))
    plan.repetition =
      runs.map { .fixed($0) } ?? .narrow(halfWidth: max(0.001, precision))
    plan.deadline = deadline.map { now + $0.duration }
    return plan
  }
}

/// Parses a list of passes on the command line, such as `cold,warm`.
enum PassesArgument {
  /// The passes of the list, in the order in which `bench` makes them.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> [Pass] {
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    let named = words.compactMap { Pass(rawValue: String($0)) }
    guard named.count == words.count, Set(named).count == named.count else {
      let all = Pass.allCases.map(\.rawValue).joined(separator: ",")
      throw ValidationError("it takes one or more of \(all), separated by commas")
    }
    return Pass.allCases.filter { named.contains($0) }
  }
}

/// Parses the numbers of simultaneous transfers to measure, such as `1,4,16`, or `auto`.
enum SweepArgument {
  /// The numbers of an option's value.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> SweepPlan {
    guard let plan = SweepPlan(argument) else {
      throw ValidationError(
        "it takes auto, or different numbers from 1 to 1024, separated by commas"
      )
    }
    return plan
  }
}

/// Parses a percentage on the command line: `10%`, or `10` with the same meaning.
enum PercentArgument {
  /// The percentage as a share, such as 0.1 for `10%`.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> Double {
    let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
    guard let percent = Double(digits), (0...1000).contains(percent) else {
      throw ValidationError("it takes a share from 0% to 1000%")
    }
    return percent / 100
  }
}

/// The options for the embedded server that `bench --origin sample` measures: its pictures and its speed.
struct OriginOptions: ParsableArguments {
  /// The values of `--origin`.
  enum Origin: String, ExpressibleByArgument, CaseIterable {
    case sample
  }

  @Option(help: ArgumentHelp("Measure the embedded store: sample.", valueName: "sample"))
  var origin: Origin?

  @Option(
    "The number of pictures (default: 1000), or of requests in a pass over URLs.",
    value: "n",
    read: WholeNumber.reader(1...1_000_000)
  )
  var count: Int?

  @Option(
    "The size of the pictures, such as 500K. (default: 8K..40K)",
    value: "size",
    read: SizesArgument.read
  )
  var sizes = SizesArgument(8 << 10...40 << 10)

  @Option(
    "The delay before each picture. (default: none)",
    value: "time",
    read: DurationArgument.read
  )
  var delay: DurationArgument?

  @Option(
    "The bandwidth of its connection, such as 10M/s. (default: no limit)",
    value: "size/s",
    read: BandwidthArgument.read
  )
  var bandwidth: BandwidthArgument?

  /// The number of pictures that the embedded server has.
  var pictures: Int { count ?? 1000 }

  mutating func validate() throws {
    if let delay, delay.seconds > 60 { throw ValidationError("--delay takes 60s at most") }
  }

  /// Whether `--origin sample` is given.
  var isAsked: Bool { origin != nil }
}

/// Sizes on the command line: one size such as `500K`, or a range such as `8K..40K`.
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

  /// A size in the form that the option accepts.
  private static func text(_ bytes: Int) -> String {
    bytes.isMultiple(of: 1 << 10) ? "\(bytes >> 10)K" : "\(bytes)B"
  }
}

/// A number of bytes a second on the command line, such as `10M/s`.
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
