import ArgumentParser
import CurlTransport
import Transport

/// A value on the command line that is a number and a unit; the number alone says too little.
protocol UnitArgument: Sendable {
  /// What may be written, for the message that refuses anything else.
  static var forms: String { get }

  /// Reads what was written; nil when it is none of ``forms``.
  init?(argument: String)
}

extension UnitArgument {
  /// Reads an option's value.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  static func read(_ argument: String) throws -> Self {
    if let value = Self(argument: argument) { return value }
    let isBare = argument.first?.isNumber == true && Double(argument) != nil
    throw ValidationError(
      "\(isBare ? "it needs a unit" : "expected a number and its unit"): \(forms)"
    )
  }
}

/// A duration on the command line: `20ms`, `90s`, `10m`, `6h`, `30d`.
struct DurationArgument: UnitArgument, CustomStringConvertible {
  static let forms = "7d, 12h, 30m, 90s or 500ms"

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
    guard let factor = factors[String(unit)], let number = Double(argument.dropLast(unit.count)),
      number >= 0, number.isFinite, argument.first?.isNumber == true
    else { return nil }
    seconds = number * factor
    guard seconds < 1e10 else { return nil }
  }

  var duration: Duration { .milliseconds(Int64(seconds * 1000)) }
}

/// A size on the command line: `300K`, `2G`, binary, or `4096B`.
struct SizeArgument: UnitArgument {
  static let forms = "512B, 300K, 64M or 2G"

  let bytes: ByteCount

  init?(argument: String) {
    let shifts: [Character: Int64] = ["B": 0, "K": 10, "M": 20, "G": 30, "T": 40]
    guard let last = argument.last, let shift = shifts[Character(last.uppercased())],
      let number = Double(argument.dropLast()), number > 0, number.isFinite,
      argument.first?.isNumber == true
    else { return nil }
    let bytes = number * Double(Int64(1) << shift)
    guard bytes >= 1, bytes < 9e18 else { return nil }
    self.bytes = ByteCount(Int64(bytes))
  }
}

/// A rate on the command line: `20/s`, `30/m`, `500/h`.
struct RateArgument: UnitArgument {
  static let forms = "20/s, 30/m or 500/h"

  let perSecond: Double

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Double(parts[0]), number > 0, number.isFinite else {
      return nil
    }
    switch parts[1] {
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
