import Base
import Glibc
import Hashing
import Synchronization

/// The description of a partly downloaded picture, with which a later run can resume the download.
///
/// The description is in a text file in `partial/` beside the bytes, called the note. A note is written only for a
/// picture that is too large for memory. After each piece of the picture, a line with the digest of all its bytes so
/// far is added to the note. With these digests, bytes that changed on the disk are detected.
///
/// A note is valid only until the machine restarts. If a process is killed, all the bytes that it wrote are still
/// there. But after a power cut, a file may have its size without having its bytes, and to sync every piece would cost
/// more than it saves. If a note is invalid, or has another format version, the file is removed and the picture is
/// fetched from its beginning.
struct PartialBody: Equatable, Sendable {
  /// The URL that was requested.
  var url: String
  /// The value for the header field `If-Range`: a strong entity-tag or a strong date.
  var validator: String
  /// The URL that sent the bytes, after redirects.
  ///
  /// The download is resumed only from this URL, because a redirect may lead elsewhere the next time.
  var source: String
  /// The type of the picture, detected from its first bytes.
  var type: PictureType
  /// The length of the complete picture; nil if the origin did not send it.
  var length: ByteCount?
  /// The number of bytes in the file, as the last valid line of the note says.
  var size: ByteCount = 0
  /// The SHA-256 of the first ``size`` bytes of the file, in hexadecimal digits.
  var digest = ""
  /// The number of bytes of the note up to the end of its last valid line.
  var noteSize: ByteCount = 0

  /// The key of the picture at the URL.
  var id: PictureID { PictureID(url: url) }

  /// The offset in the picture at which the download is resumed.
  ///
  /// It follows the bytes in the file. If the file is complete, it is the offset of the last byte, because servers
  /// refuse a range that begins after the end.
  var offset: ByteCount { size == length ? size - 1 : size }
}

extension PartialBody {
  private static let heading = "larder partial 3"
  /// The beginning of the last line of the head.
  ///
  /// It is followed by the digest of the head.
  private static let ending = "end "
  /// The number of lines of the head, without its last line.
  private static let headLines = 7

  /// Parses a note.
  ///
  /// The result is nil if the head is damaged or has no valid line after it, or if the note is of another format
  /// version or another boot. It is also nil if `name` is not the name of the file that belongs to the note.
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
    guard id.partialName == name else { return nil }
    noteSize = ByteCount(lines[...Self.headLines].reduce(0) { $0 + $1.utf8.count + 1 })
    // Leave out the text after the last line break, which is an incomplete line or empty.
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

  /// The head of the note, which contains the boot id of the kernel.
  ///
  /// None of its values can contain a line break.
  func note(boot: String) -> String {
    let head = [
      Self.heading, boot, url, validator, source, type.mediaType, length?.description ?? "-",
    ]
    return (head + [Self.ending + Self.digest(of: head[...]), ""]).joined(separator: "\n")
  }

  /// The line that is added to the note after a piece.
  ///
  /// - Parameters:
  ///   - count: The number of bytes in the file so far.
  ///   - sha256: The SHA-256 of these bytes.
  /// - Returns: The line, which ends with a line break.
  static func line(_ count: ByteCount, sha256: [UInt8]) -> String {
    "\(count) \(Hexadecimal.text(sha256))\n"
  }

  private static func digest(of head: ArraySlice<String>) -> String {
    Hexadecimal.text(ContentDigest.sha256(Array(head.joined(separator: "\n").utf8)))
  }

  /// Whether the file in `folder` begins with the bytes that the note describes.
  ///
  /// This reads and hashes these bytes.
  func isSound(_ name: String, in folder: Folder) -> Bool {
    guard let file = try? folder.openFile(name) else { return false }
    var hash = SHA256()
    let count = try? file.forEachPiece(upTo: size) { hash.add($0.span.bytes) }
    return count == size && Hexadecimal.text(hash.digest) == digest
  }

  /// The boot id of the kernel; empty if it cannot be read.
  ///
  /// If it is empty, no later run can resume a download.
  static let boot: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
  }()
}

extension PictureID {
  /// The name of the picture's file in `partial/` while it is downloaded.
  ///
  /// It is the same in every run, so that a run overwrites the file of a run that was killed.
  var partialName: String { hexadecimal }
}

extension String {
  /// The name of the note that belongs to the file of this name.
  var noteName: String { self + ".note" }
}

/// The unfinished downloads of earlier runs in `partial/`, which fetches of the same pictures resume.
///
/// When a run begins, the downloads that are old, damaged, surplus or from another boot are removed. At the end of a
/// complete run, the downloads of pictures that it did not request are removed.
package final class PartialBodies: Sendable {
  /// The maximum number of downloads that are kept from one run to the next.
  ///
  /// The most recent ones are kept.
  static let most = 256
  /// The maximum age of an unfinished download in seconds: a week.
  package static let longestAge: Int64 = 7 * 86_400
  /// The minimum size of an unfinished download that is kept.
  ///
  /// To request a smaller one again costs about as much as to keep it.
  static let leastSize: ByteCount = 65_536

  private let bodies: Mutex<[String: PartialBody]>
  private let layout: CacheLayout

  /// Lists `partial/`, and removes the files there that cannot be resumed.
  ///
  /// The caller holds the cache's lock.
  ///
  /// - Parameters:
  ///   - layout: The cache.
  ///   - oldest: Files are removed if they were last written before this moment. A file with a date in the future is
  ///     kept, because the clock has probably been set back.
  ///   - boot: The boot id of the kernel.
  /// - Throws: ``LarderError`` when the folder cannot be read, or a file cannot be removed.
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
    // Remove the notes first. A file without its note is never resumed, but a note without its file could later be
    // taken for the note of another file.
    for name in names.sorted(by: { $0.count > $1.count })
    where kept[name.withoutNoteSuffix] == nil {
      try layout.remove("partial/\(name)")
    }
  }

  /// The number of downloads that were not taken yet.
  var count: Int { bodies.withLock { $0.count } }

  /// Takes the unfinished download of a picture out of this collection; nil if there is none.
  ///
  /// This reads and hashes the file. If the digest is wrong, the file is removed and the result is nil, so that the
  /// picture is fetched from its beginning.
  func take(_ id: PictureID) -> PartialBody? {
    let name = id.partialName
    guard let body = bodies.withLock({ $0.removeValue(forKey: name) }) else { return nil }
    if body.isSound(name, in: layout.partial) { return body }
    discard(name)
    return nil
  }

  private func discard(_ name: String) {
    try? layout.remove("partial/\(name.noteName)")
    try? layout.remove("partial/\(name)")
  }

  /// Removes the downloads that were not taken.
  ///
  /// If that fails, the next run tries again.
  func sweep() {
    let left = bodies.withLock { bodies in
      defer { bodies = [:] }
      return bodies.keys.sorted()
    }
    for name in left { discard(name) }
  }
}

extension String {
  /// If this is the name of a note, the name of its file; otherwise this name.
  fileprivate var withoutNoteSuffix: String {
    hasSuffix("".noteName) ? String(dropLast("".noteName.count)) : self
  }
}
