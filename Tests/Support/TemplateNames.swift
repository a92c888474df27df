@_spi(Reflection) import Swift

/// Compares the names in Mustache templates with the members of the types that they show.
///
/// Nothing is rendered: a name in a section that no page of a test shows is checked as well.
package struct TemplateNames {
  /// The templates by name.
  private let templates: [String: String]
  /// Values of types that give their members by name, instead of as stored properties.
  private let named: [ObjectIdentifier: (String) -> Any?]
  /// The templates that were read.
  package private(set) var read: Set<String> = []
  /// A sentence for each name that is no member.
  package private(set) var faults: [String] = []

  /// No name is compared yet.
  package init(
    _ templates: [String: String],
    named: [ObjectIdentifier: (String) -> Any?] = [:]
  ) {
    (self.templates, self.named) = (templates, named)
  }

  /// Reads a template that shows a value of the type, and its partials.
  package mutating func compare(_ template: String, showing type: Any.Type) {
    compare(template, [type])
  }

  private mutating func compare(_ template: String, _ context: [Any.Type]) {
    guard let text = templates[template] else {
      return faults.append("there is no template \(template)")
    }
    read.insert(template)
    var contexts = [context]
    for tag in text.matches(of: /\{\{(\{|[#^\/>!<$]?)\s*([^}]*?)\s*\}{2,3}/) {
      let (kind, name) = (tag.1, String(tag.2))
      let present = contexts.last ?? context
      switch kind {
      case "/": contexts.removeLast()
      case "!": break
      case ">": compare(name, present)
      case "<":
        compare(name, present)
        contexts.append(present)
      case "$": contexts.append(present)
      case "#", "^":
        let found = type(of: name, present, template)
        contexts.append(
          kind == "#" ? Self.inside(found).map { present + [$0] } ?? present : present
        )
      default: _ = type(of: name, present, template)
      }
    }
  }

  /// The type of a section's content, where the section changes it.
  private static func inside(_ type: Any.Type?) -> Any.Type? {
    switch type {
    case let list as any ListType.Type: list.element
    case let optional as any OptionalType.Type: optional.wrapped
    case is Bool.Type, nil: nil
    default: type
    }
  }

  private mutating func type(
    of name: String,
    _ context: [Any.Type],
    _ template: String
  ) -> Any.Type? {
    if name == "." { return context.last }
    let isTransform = name.hasPrefix("empty(")
    let path = (isTransform ? String(name.dropFirst(6).dropLast()) : name).split(separator: ".")
      .map(String.init)
    let places = context.indices.filter { member(path[0], of: context[$0]) != nil }
    guard let place = places.last, var found = member(path[0], of: context[place]) else {
      faults.append("\(template): \(name) is no member of \(context)")
      return nil
    }
    // Mustache takes the outer value where the inner one is nil.
    if found is any OptionalType.Type, places.count > 1 {
      faults.append(
        "\(template): \(name) may be nil, and is a member of \(context[places[0]]) too"
      )
    }
    for step in path.dropFirst() {
      guard let next = member(step, of: Self.inside(found) ?? found) else {
        faults.append("\(template): \(step) of \(name) is no member of \(found)")
        return nil
      }
      found = next
    }
    guard isTransform else { return found }
    if !(found is String.Type || found is any ListType.Type) {
      faults.append("\(template): \(name), which is \(found), cannot be empty")
    }
    return Bool.self
  }

  private func member(_ name: String, of type: Any.Type) -> Any.Type? {
    if let value = named[ObjectIdentifier(type)] {
      return value(name).map { Swift.type(of: $0) }
    }
    var found: Any.Type?
    _ = _forEachField(of: type) { field, _, type, _ in
      if String(cString: field) == name { found = type }
      return found == nil
    }
    return found
  }
}

private protocol ListType { static var element: Any.Type { get } }
private protocol OptionalType { static var wrapped: Any.Type { get } }

extension Array: ListType { static var element: Any.Type { Element.self } }
extension Optional: OptionalType { static var wrapped: Any.Type { Wrapped.self } }
