/// The members of a YAML mapping, in the file's order.
struct YAMLMapping {
  /// A key with its value.
  struct Member {
    let name: String
    let key: YAMLNode
    let value: YAMLNode
  }

  /// All members.
  let members: [Member]
  /// The mapping itself.
  let node: YAMLNode

  /// The value under a key; nil when the key is absent or its value is `null`.
  subscript(name: String) -> YAMLNode? {
    member(name).flatMap { $0.isNull ? nil : $0 }
  }

  /// The value under a key, `null` included.
  func member(_ name: String) -> YAMLNode? {
    members.first { $0.name == name }?.value
  }

  /// The value under a key that must be there.
  func required(_ name: String) throws(CatalogError) -> YAMLNode {
    guard let value = self[name] else {
      throw (member(name) ?? node).error("\"\(name)\" is missing", expected: name)
    }
    return value
  }

  /// Refuses keys that nobody knows.
  func checkKeys(_ keys: CatalogKeys) throws(CatalogError) {
    try checkKeys(keys.names)
  }

  /// Refuses keys that nobody knows, and lists those that are known here, the nearest first.
  func checkKeys(_ known: [String]) throws(CatalogError) {
    for member in members where !known.contains(member.name) {
      let nearest = nearest(to: member.name, in: known)
      let others = known.filter { $0 != nearest }.joined(separator: ", ")
      var error = member.key.error(
        "unknown key \"\(member.name)\"",
        nearestKey: nearest,
        remedy: nearest.map {
          "the nearest known key is \"\($0)\""
            + (others.isEmpty ? "" : "; also allowed here: \(others)")
        }
      )
      error.keyPath = member.value.keyPath
      throw error
    }
  }
}
