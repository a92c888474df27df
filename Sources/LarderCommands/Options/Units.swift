import ArgumentParser
import CurlTransport

/// A duration on the command line: `20ms`, `90s`, `10m`, `6h`, `30d`, or seconds.
struct DurationArgument: ExpressibleByArgument, Sendable, CustomStringConvertible {
  let seconds: Double

  /// As it may be written, in seconds.
  var description: String { "\(Int(seconds))s" }

  /// A duration that is no argument.
  init(seconds: Double) {
    self.seconds = seconds
  }

  init?(argument: String) {
    let factors = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400]
    let unit = argument.drop { !$0.isLetter }
    let factor = factors[String(unit)]
    guard let number = Double(factor == nil ? argument[...] : argument.dropLast(unit.count)),
      number >= 0, number.isFinite, argument.first?.isNumber == true
    else { return nil }
    seconds = number * (factor ?? 1)
    guard seconds < 1e10 else { return nil }
  }

  var duration: Duration { .milliseconds(Int64(seconds * 1000)) }
}

/// A size on the command line: `300K`, `2G`, binary, or bytes.
struct SizeArgument: ExpressibleByArgument, Sendable {
  let bytes: Int64

  init?(argument: String) {
    let shifts: [Character: Int64] = ["K": 10, "M": 20, "G": 30, "T": 40]
    let last = argument.last.map { Character($0.uppercased()) }
    let shift = last.flatMap { shifts[$0] }
    guard let number = Double(shift == nil ? argument[...] : argument.dropLast()),
      number > 0, number.isFinite, argument.first?.isNumber == true
    else { return nil }
    let bytes = number * Double(Int64(1) << (shift ?? 0))
    guard bytes >= 1, bytes < 9e18 else { return nil }
    self.bytes = Int64(bytes)
  }
}

/// A rate on the command line: `20/s`, `30/m`, or a number a second.
struct RateArgument: ExpressibleByArgument, Sendable {
  let perSecond: Double

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard let number = Double(parts[0]), number > 0, number.isFinite, parts.count <= 2 else {
      return nil
    }
    switch parts.count == 2 ? parts[1] : "s" {
    case "s": perSecond = number
    case "m": perSecond = number / 60
    case "h": perSecond = number / 3600
    default: return nil
    }
  }
}

/// How many transfers at once: `auto` or a number from 1 to 1024.
struct ParallelArgument: ExpressibleByArgument, Sendable, CustomStringConvertible {
  let count: TransportOptions.Count

  var description: String {
    switch count {
    case .auto: "auto"
    case .fixed(let number): String(number)
    }
  }

  init?(argument: String) {
    if argument == "auto" {
      count = .auto
    } else if let number = Int(argument), (1...1024).contains(number) {
      count = .fixed(number)
    } else {
      return nil
    }
  }

  /// As many as the transport finds good.
  static let auto = ParallelArgument(count: .auto)

  private init(count: TransportOptions.Count) {
    self.count = count
  }
}
