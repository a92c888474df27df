import NIOCore

/// A resource with the head of its plain 200 answer already written, but for the date.
struct Servable {
  /// As it was given.
  let original: Resource
  /// With the `Cache-Control` that the rules give it.
  let resource: Resource
  /// From the status line on, without `Date` and without the empty line.
  let head: ByteBuffer

  init(_ resource: Resource, rule: String) {
    original = resource
    var resource = resource
    resource.cacheControl = rule
    self.resource = resource
    self.head = Reply.whole(resource).rendered
  }
}
