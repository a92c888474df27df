import ArgumentParser
import Base
import CurlTransport

/// The value of an option that is a number with a unit, such as `90s`.
///
/// A number without a unit is refused, because its meaning would be ambiguous.
protocol UnitArgument: Sendable {
  /// The allowed forms, for the error message.
  static var forms: String { get }

  /// Parses an argument; nil if it has none of the allowed forms.
  init?(argument: String)

  /// The allowed range, if the argument has the right form but is out of that range; otherwise nil.
  static func bounds(beside argument: String) -> String?
}

extension UnitArgument {
  /// Returns nil, so that a value out of range gets the same message as any other wrong value.
  static func bounds(beside argument: String) -> String? { nil }

  /// Parses an option's value.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> Self {
    if let value = Self(argument: argument) { return value }
    if let bounds = bounds(beside: argument) { throw ValidationError("it takes \(bounds)") }
    let isBare = argument.first?.isNumber == true && Double(argument) != nil
    throw ValidationError(
      "\(isBare ? "it needs a unit" : "expected a number and its unit"): \(forms)"
    )
  }
}

extension Option {
  /// An option whose value is a number with a unit.
  ///
  /// - Parameters:
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `time`.
  init<Content: UnitArgument>(_ help: String, value name: String) where Value == Content? {
    self.init(help, value: name, read: Content.read)
  }
}

/// A ``UnitArgument`` with one number and one unit, and with an allowed range.
protocol BoundedArgument: UnitArgument {
  /// The units that are allowed after the number.
  static var units: [String] { get }
  /// The allowed range in words, such as "a time from 0s to 100000d".
  static var bounds: String { get }

  /// Converts a number with its unit; nil if the result is out of ``bounds``.
  init?(_ number: Double, _ unit: String)
}

extension BoundedArgument {
  init?(argument: String) {
    guard !argument.hasPrefix("-"), let (number, unit) = Self.parts(of: argument) else {
      return nil
    }
    self.init(number, unit)
  }

  static func bounds(beside argument: String) -> String? {
    parts(of: argument) == nil ? nil : bounds
  }

  /// Splits a value into its number and its unit; nil if the value has none of the allowed forms.
  ///
  /// The number can have any size, and can be negative.
  private static func parts(of argument: String) -> (Double, String)? {
    let digits = argument.hasPrefix("-") ? argument.dropFirst() : argument[...]
    // `Double` alone would also accept "inf" and hexadecimal digits.
    let end = digits.firstIndex { !$0.isNumber && $0 != "." } ?? digits.endIndex
    let unit = String(digits[end...])
    guard digits.first?.isNumber == true, units.contains(unit), let number = Double(digits[..<end])
    else { return nil }
    return (number, unit)
  }
}

/// A duration on the command line: `20ms`, `90s`, `10m`, `6h`, `30d` or `2y` (years of 365 days).
struct DurationArgument: BoundedArgument {
  static let forms = "7d, 12h, 30m, 90s, 500ms or 2y"
  static let units = ["ms", "s", "m", "h", "d", "y"]
  static let bounds = "a time from 0s to 100000d"

  let seconds: Double

  /// Creates a duration that does not come from the command line, such as a default.
  init(seconds: Double) {
    self.seconds = seconds
  }

  init?(_ number: Double, _ unit: String) {
    let factors: [String: Double] = [
      "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 365 * 86_400,
    ]
    guard let factor = factors[unit] else { return nil }
    seconds = number * factor
    guard seconds <= 100_000 * 86_400 else { return nil }
  }

  /// Parses the value of an option that does not accept zero.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func readPositive(_ argument: String) throws -> DurationArgument {
    let value = try read(argument)
    guard value.seconds > 0 else { throw ValidationError("it takes a time above 0s, to 100000d") }
    return value
  }

  var duration: Duration { .milliseconds(Int64(seconds * 1000)) }
}

/// A size on the command line, such as `4096B`, `300K` or `2G`.
///
/// The units are binary: 1K is 1024 bytes.
struct SizeArgument: BoundedArgument {
  static let forms = "512B, 300K, 64M or 2G"
  static let units = ["B", "K", "M", "G", "T", "b", "k", "m", "g", "t"]
  static let bounds = "a size from 1B to 1000000T"

  let bytes: ByteCount

  init?(_ number: Double, _ unit: String) {
    let shifts: [String: Int64] = ["B": 0, "K": 10, "M": 20, "G": 30, "T": 40]
    guard let shift = shifts[unit.uppercased()] else { return nil }
    let bytes = number * Double(Int64(1) << shift)
    guard bytes >= 1, bytes <= 1_000_000 * Double(Int64(1) << 40) else { return nil }
    self.bytes = ByteCount(Int64(bytes))
  }
}

/// A rate on the command line, such as `20/s`, `30/m` or `500/h`.
struct RateArgument: BoundedArgument {
  static let forms = "20/s, 30/m or 500/h"
  static let units = ["/s", "/m", "/h"]
  static let bounds = "a rate above 0/s, up to 1000000/s"

  let perSecond: Double

  init?(_ number: Double, _ unit: String) {
    let factors: [String: Double] = ["/s": 1, "/m": 60, "/h": 3600]
    guard let factor = factors[unit] else { return nil }
    perSecond = number / factor
    guard perSecond > 0, perSecond <= 1_000_000 else { return nil }
  }
}

/// Parses the number of simultaneous transfers: `auto` or a number from 1 to 1024.
enum ParallelArgument {
  /// The number of an option's value.
  ///
  /// With `auto`, the transport adjusts the number itself.
  ///
  /// - Throws: `ValidationError` with the allowed forms.
  static func read(_ argument: String) throws -> TransportOptions.Count {
    if argument == "auto" { return .auto }
    guard let number = WholeNumber.read(argument, in: 1...1024) else {
      throw ValidationError("it takes auto or a number from 1 to 1024")
    }
    return .fixed(number)
  }
}

/// A whole number on the command line.
enum WholeNumber {
  /// Parses a number in a range; nil if the text is anything else.
  ///
  /// A leading plus sign is refused, although `Int` would accept it.
  static func read(_ argument: String, in range: ClosedRange<Int>) -> Int? {
    guard argument.first?.isNumber == true, let number = Int(argument), range.contains(number)
    else { return nil }
    return number
  }

  /// A function that parses the value of an option whose numbers have a range.
  ///
  /// - Parameter range: The allowed range.
  /// - Returns: The function; it throws a `ValidationError` that names the bounds.
  static func reader(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { argument in
      guard let number = read(argument, in: range) else {
        throw ValidationError("it takes a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
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
