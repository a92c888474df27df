/// What the conditions of a GET or HEAD say of the resource as it is. (RFC 9110, section 13)
enum Precondition: Equatable {
  case passed, failed, notModified

  init(_ fields: [HeaderField], _ resource: Resource) {
    if let list = fields.list("If-Match") {
      guard Self.matches(list, resource.etag, weakly: false) else {
        self = .failed
        return
      }
    } else if let before = fields["If-Unmodified-Since"].flatMap(HTTPDate.seconds),
      let changed = resource.lastModified, changed > before
    {
      self = .failed
      return
    }
    if let list = fields.list("If-None-Match") {
      self = Self.matches(list, resource.etag, weakly: true) ? .notModified : .passed
    } else if let since = fields["If-Modified-Since"].flatMap(HTTPDate.seconds),
      let changed = resource.lastModified, changed <= since
    {
      self = .notModified
    } else {
      self = .passed
    }
  }

  /// Compares a list of entity tags, or `*`, with the one there is. (RFC 9110, section 8.8.3.2)
  static func matches(_ list: String, _ etag: String?, weakly: Bool) -> Bool {
    if list == "*" { return true }
    guard let etag else { return false }
    return tags(list).contains { tag in
      if tag.hasPrefix("W/") || etag.hasPrefix("W/") {
        return weakly && opaque(tag) == opaque(etag)
      }
      return tag == etag
    }
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  /// Splits at commas outside quotes: a tag may hold commas.
  private static func tags(_ list: String) -> [String] {
    var tags: [String] = []
    var tag = ""
    var quoted = false
    for character in list {
      if character == "\"" { quoted.toggle() }
      if character == ",", !quoted {
        tags.append(tag)
        tag = ""
      } else if quoted || character != " " {
        tag.append(character)
      }
    }
    return (tags + [tag]).filter { !$0.isEmpty }
  }
}
