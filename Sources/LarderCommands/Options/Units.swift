import ArgumentParser
import Base
import CurlTransport

/// The value of an option that is a number with a unit, such as `90s`.
///
/// A number without a unit is refused, because its meaning would be ambiguous.
protocol UnitArgument: Sendable {
  /// The allowed forms, for the error message.
  static var forms: String { get }
  /// The units that are allowed after the number, and the amount of each, such as 60 for a minute.
  static var units: [String: Double] { get }
  /// The allowed amounts.
  static var range: ClosedRange<Double> { get }
  /// The allowed range in words, such as "a time from 0s to 100000d".
  static var bounds: String { get }

  /// Makes the value from an amount in the allowed range.
  init(_ amount: Double)
}

extension UnitArgument {
  /// Parses an option's value.
  ///
  /// - Throws: `ValidationError` with the allowed forms, or with the allowed range if only the amount is wrong.
  static func read(_ argument: String) throws -> Self {
    guard let amount = amount(argument) else {
      let isBare = argument.first?.isNumber == true && Double(argument) != nil
      throw ValidationError(
        "\(isBare ? "it needs a unit" : "expected a number and its unit"): \(forms)"
      )
    }
    guard !argument.hasPrefix("-"), range.contains(amount) else {
      throw ValidationError("it takes \(bounds)")
    }
    return Self(amount)
  }

  /// The amount, of any size and without its sign; nil if the argument has none of the allowed forms.
  private static func amount(_ argument: String) -> Double? {
    let digits = argument.hasPrefix("-") ? argument.dropFirst() : argument[...]
    // `Double` alone would also accept "inf" and hexadecimal digits.
    let end = digits.firstIndex { !$0.isNumber && $0 != "." } ?? digits.endIndex
    guard digits.first?.isNumber == true, let unit = units[String(digits[end...])],
      let number = Double(digits[..<end])
    else { return nil }
    return number * unit
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

  /// An option that has a default, and whose value is a number with a unit.
  ///
  /// - Parameters:
  ///   - wrappedValue: The default.
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `time`.
  init(wrappedValue: Value, _ help: String, value name: String) where Value: UnitArgument {
    self.init(wrappedValue: wrappedValue, help, value: name, read: Value.read)
  }
}

/// A duration on the command line: `20ms`, `90s`, `10m`, `6h`, `30d` or `2y` (years of 365 days).
struct DurationArgument: UnitArgument {
  static let forms = "7d, 12h, 30m, 90s, 500ms or 2y"
  static let units: [String: Double] = [
    "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 365 * 86_400,
  ]
  static let range = 0...100_000 * 86_400.0
  static let bounds = "a time from 0s to 100000d"

  let seconds: Double

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

extension DurationArgument {
  init(_ amount: Double) { self.init(seconds: amount) }
}

/// A size on the command line, such as `4096B`, `300K` or `2G`.
///
/// The units are binary: 1K is 1024 bytes.
struct SizeArgument: UnitArgument {
  static let forms = "512B, 300K, 64M or 2G"
  static let units: [String: Double] = [
    "B": 1, "K": 0x1p10, "M": 0x1p20, "G": 0x1p30, "T": 0x1p40,
    "b": 1, "k": 0x1p10, "m": 0x1p20, "g": 0x1p30, "t": 0x1p40,
  ]
  static let range = 1...1_000_000 * 0x1p40
  static let bounds = "a size from 1B to 1000000T"

  let bytes: ByteCount

  init(_ amount: Double) { bytes = ByteCount(Int64(amount)) }
}

/// A rate on the command line, such as `20/s`, `30/m` or `500/h`.
struct RateArgument: UnitArgument {
  static let forms = "20/s, 30/m or 500/h"
  static let units = ["/s": 1.0, "/m": 1 / 60.0, "/h": 1 / 3600.0]
  static let range = Double.leastNonzeroMagnitude...1_000_000
  static let bounds = "a rate above 0/s, up to 1000000/s"

  let perSecond: Double

  init(_ amount: Double) { perSecond = amount }
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

/// Parses a percentage from 0 to 100 on the command line: `10%`, or `10` with the same meaning.
enum PercentArgument {
  /// The percentage of an option's value.
  ///
  /// - Throws: `ValidationError` that names the bounds.
  static func read(_ argument: String) throws -> Double {
    let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
    guard digits.first?.isNumber == true, let percent = Double(digits),
      (0...100).contains(percent)
    else { throw ValidationError("it takes a share from 0% to 100%") }
    return percent
  }
}
