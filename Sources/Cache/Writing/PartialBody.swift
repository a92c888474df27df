import Base
import Crypto
import Glibc
import Synchronization

/// The data that a later run needs to resume an interrupted body.
///
/// The data is in a text file beside the body in `partial/`, called the note. A note is written only for a body that is
/// too large for memory. Each piece adds a line with the digest of all bytes so far, so that bytes that changed on the
/// disk are detected.
///
/// A note is valid only until the machine reboots. After a process was killed, all the bytes that it wrote are there.
/// But after a power cut a file may have its size and not its bytes, and syncing every piece would cost more than it
/// saves. A note of another format version is invalid too: the body is removed, and the picture is fetched from its
/// beginning.
struct PartialBody: Equatable, Sendable {
  /// The picture's URL, as in the request.
  var url: String
  /// The value for `If-Range`: a strong entity-tag or a strong date.
  var validator: String
  /// The URL after redirects that the bytes came from; a redirect may lead elsewhere the next time.
  var source: String
  /// The picture type, detected from the first bytes.
  var type: PictureType
  /// The length of the complete body, if the origin gave it.
  var length: ByteCount?
  /// The number of bytes in the file, according to the note's last valid line.
  var size: ByteCount = 0
  /// The SHA-256 of the file's first ``size`` bytes, in hexadecimal.
  var digest = ""
  /// The number of valid bytes of the note.
  var noteSize: ByteCount = 0

  /// The picture id for the URL.
  var id: PictureID { PictureID(url: url) }

  /// The offset to resume at: after the held bytes.
  ///
  /// If the body is complete, the offset is that of the last byte, because servers refuse a range after the end.
  var offset: ByteCount { size == length ? size - 1 : size }
}

extension PartialBody {
  private static let heading = "larder partial 3"
  /// The start of the head's last line, before the head's digest.
  private static let ending = "end "
  /// The number of lines of the head without the last one.
  private static let headLines = 7

  /// Parses a note.
  ///
  /// Nil when the head is damaged, when the note is of another version or boot, or when it has no valid line. Also nil
  /// when `name` is the file name of another picture's body.
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
    // The text after the last line break is an incomplete line.
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

  /// The note's head, with the kernel's boot id; none of its values can contain a line break.
  func note(boot: String) -> String {
    let head = [
      Self.heading, boot, url, validator, source, type.mediaType, length?.description ?? "-",
    ]
    return (head + [Self.ending + Self.digest(of: head[...]), ""]).joined(separator: "\n")
  }

  /// The note's line with the number and digest of the received bytes.
  ///
  /// - Parameters:
  ///   - count: The number of bytes in the file.
  ///   - sha256: The SHA-256 of these bytes.
  /// - Returns: The line with its line break.
  static func line(_ count: ByteCount, sha256: [UInt8]) -> String {
    "\(count) \(Hexadecimal.text(sha256))\n"
  }

  private static func digest(of head: ArraySlice<String>) -> String {
    Hexadecimal.text(ContentDigest.sha256(Array(head.joined(separator: "\n").utf8)))
  }

  /// Whether the file in `folder` begins with the bytes that the note describes; reads and hashes them.
  func isSound(_ name: String, in folder: Folder) -> Bool {
    guard let file = try? folder.openFile(name) else { return false }
    var hash = SHA256()
    let count = try? file.forEachPiece(upTo: size) { hash.update(data: $0) }
    return count == size && Hexadecimal.text(hash.finalize()) == digest
  }

  /// The kernel's boot id; empty when it is not available.
  ///
  /// Without it, no later run can resume a partial body.
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
  /// The file's name in `partial/` during its transfer; the same in every run, so that a run overwrites the file of a
  /// killed run.
  var partialName: String { id.hexadecimal }
}

extension String {
  /// The name of the note beside a partial body.
  var noteName: String { self + ".note" }
}

/// The unfinished bodies of earlier runs in `partial/`, which fetches of the same pictures resume.
///
/// Before a run, bodies that are old, damaged, surplus or from another boot are removed. At the end of a complete run,
/// the bodies of pictures that were not requested are removed.
package final class PartialBodies: Sendable {
  /// The maximum number of bodies to keep from one run to the next; the most recent ones are kept.
  static let most = 256
  /// The longest age of a body in seconds: a week.
  package static let longestAge: Int64 = 7 * 86_400
  /// The least size of a body to keep when its transfer fails: requesting a shorter body again costs about as much as
  /// keeping it.
  static let leastSize: ByteCount = 65_536

  private let bodies: Mutex<[String: PartialBody]>
  private let layout: CacheLayout

  /// Makes an empty collection.
  init(_ layout: CacheLayout) {
    bodies = Mutex([:])
    self.layout = layout
  }

  /// Lists `partial/`, and removes unusable files.
  ///
  /// The caller holds the cache's lock.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - oldest: Files last written before this moment are removed. A file with a date in the future is kept, because
  ///     the clock has probably been set back.
  ///   - boot: The kernel's boot id.
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
    // Notes are removed first: a body without its note is never resumed, but a note could be taken for the note of
    // another body.
    for name in names.sorted(by: { $0.count > $1.count })
    where kept[name.withoutNoteSuffix] == nil {
      try layout.remove("partial/\(name)")
    }
  }

  /// The number of bodies that were not taken yet.
  var count: Int { bodies.withLock { $0.count } }

  /// Returns the body of a picture if its digest is right; a second call for the picture returns nil.
  ///
  /// Reads the whole file. A damaged body is removed, and the picture is fetched from its beginning.
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

  /// Removes the bodies that were not taken; if a removal fails, the next run tries again.
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
  /// The name of a note's body; any other name is unchanged.
  fileprivate var withoutNoteSuffix: String {
    hasSuffix("".noteName) ? String(dropLast("".noteName.count)) : self
  }
}
