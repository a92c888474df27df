import Base
import Crypto
import Glibc
import Synchronization

/// The data that a later run needs to resume an interrupted body.
///
/// Kept beside the body in `partial/`, in a note of its own. The note is written when the body
/// outgrows memory, and never for the many small pictures that come in one piece. Each piece adds
/// a line with the digest of all bytes so far, so that no byte that changed on the disk becomes
/// part of a picture.
///
/// A note counts only in the same boot of the machine. A kill leaves all that was written, but
/// after a power cut a file may have its size and not its bytes, and syncing every piece would
/// cost more than it saves. A note of another version does not count either: its first line
/// differs, the body is removed, and the picture fetched from its beginning.
struct PartialBody: Equatable, Sendable {
  /// The picture's URL, as it is sent.
  var url: String
  /// The value for `If-Range`: a strong entity-tag or a strong date.
  var validator: String
  /// The resource that the bytes came from in the end: a redirect may change its mind.
  var source: String
  /// The type by the first bytes.
  var type: PictureType
  /// The whole's length, when the origin told it.
  var length: ByteCount?
  /// How many bytes lie in the file, by the note's last sound line.
  var size: ByteCount = 0
  /// The SHA-256 of those bytes, in hexadecimal.
  var digest = ""
  /// How many bytes of the note are sound.
  var noteSize: ByteCount = 0

  /// The identity that the URL gives.
  var id: PictureID { PictureID(url: url) }

  /// The offset to resume at: after the held bytes, or at the last byte when nothing more can
  /// follow, because a range after the end would be refused.
  var offset: ByteCount { size == length ? size - 1 : size }
}

extension PartialBody {
  private static let heading = "larder partial 3"
  /// Ends a note's head, before the head's own digest.
  private static let ending = "end "
  /// How many lines the head has without its end.
  private static let headLines = 7

  /// Reads a note back.
  ///
  /// Nil when its head is not whole to the byte, when it is of another version or boot, says of no byte that
  /// it came, or names a picture whose body this is not.
  init?(note: String, name: String, boot: String) {
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let head = lines.prefix(Self.headLines)
    guard lines.count > Self.headLines + 2, head[0] == Self.heading, !boot.isEmpty,
      head[1] == boot, !head[3].isEmpty, let type = PictureType(mediaType: head[5]),
      lines[Self.headLines] == Self.ending + Self.digest(of: head)
    else { return nil }
    url = head[2]
    validator = head[3]
    source = head[4]
    self.type = type
    length = Int64(head[6]).map(ByteCount.init(_:))
    guard PictureEntry(id: id, url: url).partialName == name else { return nil }
    noteSize = ByteCount(lines[...Self.headLines].reduce(0) { $0 + $1.utf8.count + 1 })
    // Text after the last line break was truncated.
    for line in lines[(Self.headLines + 1)...].dropLast() {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 2, let count = Int64(words[0]).map(ByteCount.init(_:)),
        count >= max(size, 1),
        words[1].utf8.count == 64
      else { break }
      size = count
      digest = String(words[1])
      noteSize += ByteCount(line.utf8.count + 1)
    }
    guard size > 0 else { return nil }
  }

  /// The note's head, for the boot of that name; none of its values can hold a line break.
  func note(boot: String) -> String {
    let head = [
      Self.heading, boot, url, validator, source, type.mediaType, length?.description ?? "-",
    ]
    return (head + [Self.ending + Self.digest(of: head[...]), ""]).joined(separator: "\n")
  }

  /// The note's line with the number and digest of the received bytes.
  ///
  /// - Parameters:
  ///   - count: how many lie in the file.
  ///   - sha256: their digest.
  /// - Returns: The line, with its end.
  static func line(_ count: ByteCount, sha256: [UInt8]) -> String {
    "\(count) \(Hexadecimal.text(sha256))\n"
  }

  private static func digest(of head: ArraySlice<String>) -> String {
    Hexadecimal.text(ContentDigest.sha256(Array(head.joined(separator: "\n").utf8)))
  }

  /// Whether the file in `folder` begins with the bytes that the note speaks of; reads them all.
  func isSound(_ name: String, in folder: Folder) -> Bool {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = openat(folder.descriptor, name, flags)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var hash = SHA256()
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    var rest = size
    while rest > 0 {
      let wanted = Int(min(rest, ByteCount(buffer.count)).count)
      guard let count = try? Files.read(descriptor, into: &buffer, most: wanted), count > 0 else {
        return false
      }
      hash.update(data: buffer[..<count])
      rest -= ByteCount(count)
    }
    return Hexadecimal.text(hash.finalize()) == digest
  }

  /// The kernel's id of this boot; empty when it is not available, and then no partial body
  /// outlives its run.
  static let boot: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
  }()
}

extension PictureEntry {
  /// The file's name in `partial/` during its transfer: one a picture, so that the next run
  /// overwrites the file of a killed one.
  var partialName: String { id.hexadecimal }
}

extension String {
  /// The name of the note beside a partial body.
  var noteName: String { self + ".note" }
}

/// The bodies that earlier runs left unfinished in `partial/`, to be resumed by fetches of the same pictures.
///
/// They are few and young: before a run, old, damaged and surplus ones, and those of another boot,
/// are removed; at the end of a complete one, those of unrequested pictures.
package final class PartialBodies: Sendable {
  /// How many are kept from one run to the next, the youngest.
  static let most = 256
  /// How long one is kept, in seconds: a week.
  package static let longestAge: Int64 = 7 * 86_400
  /// A body shorter than this is not kept when its transfer fails: requesting it again costs about
  /// as much as keeping it.
  static let leastSize: ByteCount = 65_536

  private let bodies: Mutex<[String: PartialBody]>
  private let layout: CacheLayout

  /// Holds none.
  init(_ layout: CacheLayout) {
    bodies = Mutex([:])
    self.layout = layout
  }

  /// Lists `partial/`, and removes unusable files.
  ///
  /// The caller holds the cache's lock.
  ///
  /// - Parameters:
  ///   - layout: the cache.
  ///   - oldest: files last written before this are removed. One from the future is
  ///     kept: it is the clock that jumped.
  ///   - boot: the kernel's id of this boot.
  /// - Throws: ``LarderError`` when the folder cannot be read or cleared.
  init(
    _ layout: CacheLayout,
    since oldest: UnixTime,
    boot: String = PartialBody.boot
  ) throws(LarderError) {
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

  /// How many were not asked for yet.
  var count: Int { bodies.withLock { $0.count } }

  /// Hands over the body of a picture, once, and only if its bytes are those that came.
  ///
  /// Reads them all. A damaged one is removed: the picture begins again.
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

  /// Removes unrequested bodies; the next run removes those that this one cannot.
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
