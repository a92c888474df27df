import Mustache

/// The members of a view by name, as the templates look them up.
///
/// Mustache finds a member of a Swift value by reflection, and lists all members of the value again for each name in a
/// template. That took two thirds of the time for a page of the store. This type lists the members once.
struct PageFields: MustacheParent {
  private let members: [String: Any]

  private init(_ mirror: Mirror) {
    var members: [String: Any] = [:]
    for (name, value) in mirror.children {
      if let name { members[name] = value }
    }
    self.members = members
  }

  /// The member with a name; nil if the view has no such member, or the member is nil.
  ///
  /// In both cases, Mustache looks for the name in the views around this one. Members that no template reads are not
  /// converted, because a view can hold thousands of items.
  func child(named name: String) -> Any? { members[name].flatMap(Self.value) }

  /// The form of a value that templates read quickly; nil if the value is an optional without a value.
  ///
  /// A struct becomes its fields. An array becomes an array of such values. A value that has a text, such as a number,
  /// stays as it is.
  static func value(_ value: Any) -> Any? {
    if value is String || value is Bool || value is any MustacheParent { return value }
    if let values = value as? [Any] { return values.compactMap(Self.value) }
    let mirror = Mirror(reflecting: value)
    return switch mirror.displayStyle {
    case .optional: mirror.children.first.flatMap { Self.value($0.value) }
    case .struct where !(value is any CustomStringConvertible): PageFields(mirror)
    default: value
    }
  }
}
