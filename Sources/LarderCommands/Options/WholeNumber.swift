/// A whole number on the command line.
enum WholeNumber {
  /// Reads a number within bounds; nil for anything else, a plus sign too, which `Int` reads and nobody means.
  static func read(_ argument: String, in range: ClosedRange<Int>) -> Int? {
    guard argument.first?.isNumber == true, let number = Int(argument), range.contains(number)
    else { return nil }
    return number
  }
}
