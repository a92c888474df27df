import Glibc
import Synchronization
import Transport

/// The bodies that earlier runs left unfinished in `partial/`, to be resumed by fetches of the same pictures.
///
/// They are few and young: what is old, damaged, of another boot or beyond the number kept is
/// removed before a run, and what no picture asked for is removed at the end of a complete one.
package final class PartialBodies: Sendable {
  /// How many are kept from one run to the next, the youngest.
  static let most = 256
  /// How long one is kept, in seconds: a week.
  package static let longestAge: Int64 = 7 * 86_400
  /// A body shorter than this is not kept when its transfer fails: asking for it anew costs about
  /// as much as keeping it.
  static let leastSize: ByteCount = 65_536

  private let bodies: Mutex<[String: PartialBody]>
  private let layout: CacheLayout

  /// Holds none.
  init(_ layout: CacheLayout) {
    bodies = Mutex([:])
    self.layout = layout
  }

  /// Takes stock of `partial/`, removing what no run can use.
  ///
  /// The caller holds the cache's lock.
  ///
  /// - Parameters:
  ///   - layout: the cache.
  ///   - oldest: files last written before this are removed. One from the future is
  ///     kept: it is the clock that jumped.
  ///   - boot: what the kernel calls this boot.
  /// - Throws: ``CacheError`` when the folder cannot be read or cleared.
  init(
    _ layout: CacheLayout,
    since oldest: UnixTime,
    boot: String = PartialBody.boot
  ) throws(CacheError) {
    self.layout = layout
    let names = try layout.partial.names()
    guard !names.isEmpty else {
      bodies = Mutex([:])
      return
    }
    var found: [(name: String, body: PartialBody, modified: UnixTime)] = []
    for name in names where !name.hasSuffix("".noteName) {
      guard let stamp = layout.partial.stamp(of: name), stamp.modified >= oldest,
        let note = layout.partial.text(of: name.noteName, limit: 1 << 20),
        let body = PartialBody(note: note, name: name, boot: boot),
        body.size >= Self.leastSize, body.size <= stamp.bytes,
        body.length.map({ stamp.bytes <= $0 }) ?? true
      else { continue }
      found.append((name, body, stamp.modified))
    }
    found.sort { ($0.modified, $0.name) > ($1.modified, $1.name) }
    var kept: [String: PartialBody] = [:]
    for (name, body, _) in found.prefix(Self.most) { kept[name] = body }
    bodies = Mutex(kept)
    // Notes go first: a body without its note is never resumed, but a note without its body would be.
    for name in names.sorted(by: { $0.count > $1.count })
    where kept[name.withoutNoteSuffix] == nil {
      try layout.remove("partial/\(name)")
    }
  }

  /// How many nobody has asked for yet.
  var count: Int { bodies.withLock { $0.count } }

  /// Hands over the body of a picture, once, and only if its bytes are those that came.
  ///
  /// Reads them all. One that is not sound is removed: the picture begins anew.
  func take(_ id: PictureID) -> PartialBody? {
    let taken = bodies.withLock { bodies -> (String, PartialBody)? in
      guard !bodies.isEmpty else { return nil }
      let name = PictureEntry(id: id, url: "").partialName
      return bodies.removeValue(forKey: name).map { (name, $0) }
    }
    guard let (name, body) = taken else { return nil }
    if body.isSound(name, in: layout.partial) { return body }
    try? layout.remove("partial/\(name.noteName)")
    try? layout.remove("partial/\(name)")
    return nil
  }

  /// Removes what nobody asked for; the next run removes what this one cannot.
  func sweep() {
    let left = bodies.withLock { bodies in
      defer { bodies = [:] }
      return bodies.keys.sorted()
    }
    for name in left {
      try? layout.remove("partial/\(name.noteName)")
      try? layout.remove("partial/\(name)")
    }
  }
}

extension String {
  /// The body's name of a note's, or the name itself.
  fileprivate var withoutNoteSuffix: String {
    hasSuffix("".noteName) ? String(dropLast("".noteName.count)) : self
  }
}
