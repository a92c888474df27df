import ArgumentParser

/// A whole number on the command line.
enum WholeNumber {
  /// Reads a number within bounds; nil for anything else, a plus sign too, which `Int` reads and nobody means.
  static func read(_ argument: String, in range: ClosedRange<Int>) -> Int? {
    guard argument.first?.isNumber == true, let number = Int(argument), range.contains(number)
    else { return nil }
    return number
  }

  /// Reads the value of an option that takes a number within bounds.
  ///
  /// - Parameter range: What the option takes.
  /// - Returns: A reader that throws a `ValidationError`, which names the bounds, for anything else.
  static func reader(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { argument in
      guard let number = read(argument, in: range) else {
        throw ValidationError("it takes a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
  }
}
