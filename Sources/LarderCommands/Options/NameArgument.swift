import ArgumentParser
import Catalog

/// The value of an option that takes names from a fixed set, such as `price` or `title`.
enum NameArgument<Value: CaseIterable & RawRepresentable> where Value.RawValue == String {
  /// All names.
  static var names: [String] { Value.allCases.map(\.rawValue) }

  /// Parses one name.
  ///
  /// - Throws: `ValidationError` with all names and the nearest one.
  static func read(_ argument: String) throws -> Value {
    try value(of: argument, forms: "one of \(names.joined(separator: ", "))")
  }

  /// Parses several names, such as `price,title`.
  ///
  /// - Throws: `ValidationError` with all names and the nearest one.
  static func readSeveral(_ argument: String) throws -> [Value] {
    let forms = "one or more of \(names.joined(separator: ",")), separated by commas"
    return try argument.split(separator: ",", omittingEmptySubsequences: false).map {
      try value(of: String($0.trimmingPrefix { $0 == " " }), forms: forms)
    }
  }

  private static func value(of name: String, forms: String) throws -> Value {
    if let value = Value(rawValue: name) { return value }
    let near = nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
    throw ValidationError("it takes \(forms)\(near)")
  }
}
