import Foundation

/// A JSON document that a command printed.
struct Document {
  private let value: Any

  /// Reads stdout, which must hold one document on one line and nothing else.
  init(_ command: Command) throws {
    guard command.output.hasSuffix("\n"), command.lines.count == 1 else {
      throw CommandError("not one line: \(command.output)\(command.errors)")
    }
    value = try JSONSerialization.jsonObject(
      with: Data(command.output.utf8),
      options: .fragmentsAllowed
    )
  }

  private init(_ value: Any) {
    self.value = value
  }

  /// The value of a key.
  subscript(_ key: String) -> Document {
    Document((value as? [String: Any])?[key] ?? Missing())
  }

  /// The element at an index.
  subscript(_ index: Int) -> Document {
    let array = value as? [Any] ?? []
    return Document(array.indices.contains(index) ? array[index] : Missing())
  }

  var string: String? { value as? String }
  var int: Int? { (value as? NSNumber)?.intValue }
  var double: Double? { (value as? NSNumber)?.doubleValue }
  var bool: Bool? { value as? Bool }
  var count: Int? { (value as? [Any])?.count }
  var strings: [String]? { value as? [String] }
  var isNull: Bool { value is NSNull }

  /// The paths of all keys.
  ///
  /// The keys of an array's elements are below `[]`, such as `sections[].key`.
  var keys: Set<String> { Self.keys(value, "") }

  private static func keys(_ value: Any, _ prefix: String) -> Set<String> {
    if let object = value as? [String: Any] {
      return object.reduce(into: []) { keys, entry in
        let path = prefix.isEmpty ? entry.key : "\(prefix).\(entry.key)"
        keys.insert(path)
        keys.formUnion(Self.keys(entry.value, path))
      }
    }
    return (value as? [Any] ?? []).reduce(into: []) { keys, element in
      keys.formUnion(Self.keys(element, prefix + "[]"))
    }
  }

  private struct Missing {}
}

/// Parses key paths from lines of a parent and its children, such as `parent: one two`.
func keyPaths(_ text: String) -> Set<String> {
  text.split(separator: "\n").reduce(into: []) { paths, line in
    let parts = line.split(separator: ":")
    let parent = parts.count == 2 ? parts[0] + "." : ""
    for name in (parts.last ?? "").split(separator: " ") { paths.insert("\(parent)\(name)") }
  }
}
