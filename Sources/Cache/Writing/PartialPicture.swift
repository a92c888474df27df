import Base
import Crypto
import Glibc
import Synchronization
import Transport

/// Writes a large body to its partial file as it arrives, or continues an earlier run's body.
///
/// Only ``failure`` may be used outside the picture's writer queue.
final class PartialPicture: @unchecked Sendable {
  // SAFETY: `hash`, `file`, `note`, `size`, `ending`, `held` and `hasNote` are read and written only on the serial
  // writer queue `queue`; `failure` has a lock of its own, because the transfer thread reads it. Everything else is
  // constant.
  private var hash = SHA256()
  private(set) var file: OpenFile?
  private(set) var size: ByteCount = 0
  /// The first and last received bytes.
  private(set) var ending = PictureEnding()
  /// Whether there is a note beside the file.
  private(set) var hasNote = false
  /// The note, to which each piece adds a line.
  private var note: OpenFile?
  /// The body from an earlier run, until its bytes are hashed.
  private var held: PartialBody?
  /// The data that a later run needs to resume the body; nil when it cannot be resumed.
  private let body: PartialBody?
  private let name: String
  /// The queue on which all work for this picture is done.
  let queue: WriterQueue
  let failure = Mutex<LarderError?>(nil)

  /// Begins a new body; `body` is the content for its note, nil when it cannot be resumed.
  init(id: PictureID, body: PartialBody?, queue: WriterQueue) {
    self.queue = queue
    name = PictureEntry(id: id, url: "").partialName
    self.body = body
  }

  /// Continues a body that an earlier run began.
  init(id: PictureID, resuming held: PartialBody, queue: WriterQueue) {
    self.queue = queue
    name = PictureEntry(id: id, url: "").partialName
    body = nil
    self.held = held
    hasNote = true
  }

  /// Appends a piece; the first one creates the file.
  func append(_ bytes: [UInt8], _ layout: CacheLayout, _ disk: any Disk) throws(LarderError) {
    let file: OpenFile
    if let open = self.file { file = open } else { file = try open(layout, disk) }
    hash.update(data: bytes)
    ending.append(bytes)
    try disk.append(bytes.span.bytes, to: file)
    size += ByteCount(bytes.count)
    if let note {
      // The note follows the bytes: a run that resumes the body truncates bytes that the note does not cover.
      let line = PartialBody.line(size, sha256: digest())
      try disk.append(Array(line.utf8).span.bytes, to: note)
    }
  }

  /// Creates the file and its note, or opens the files of an earlier run and hashes the bytes.
  private func open(_ layout: CacheLayout, _ disk: any Disk) throws(LarderError) -> OpenFile {
    if let held {
      let file = try disk.reopen(name, in: layout.partial, keeping: held.offset)
      try hash(held.offset, of: file)
      note = try disk.reopen(name.noteName, in: layout.partial, keeping: held.noteSize)
      self.held = nil
      self.file = file
      size = held.offset
      return file
    }
    let file = try disk.create(name, in: layout.partial)
    self.file = file
    if let body {
      // Created after the file, which is empty now: a note must never be beside another body's bytes.
      hasNote = true
      let note = try disk.create(name.noteName, in: layout.partial)
      try disk.append(Array(body.note(boot: PartialBody.boot).utf8).span.bytes, to: note)
      self.note = note
    }
    return file
  }

  private func hash(_ count: ByteCount, of file: OpenFile) throws(LarderError) {
    let found = try file.forEachPiece(upTo: count) { piece in
      hash.update(data: piece)
      ending.append(Array(piece))
    }
    guard found == count else { throw .system("read", file.path, errno: ENODATA) }
  }

  /// The SHA-256 of all bytes so far.
  func digest() -> [UInt8] {
    Array(hash.finalize())
  }

  /// Closes the file and leaves it with its note for a later run; false when the body cannot be resumed.
  func leave() -> Bool {
    guard hasNote, failure.withLock({ $0 == nil }) else { return false }
    file = nil
    note = nil
    return true
  }

  /// Removes the partial file and its note; if that fails, the next run removes them.
  func discard(_ layout: CacheLayout, _ disk: any Disk) {
    if hasNote { try? disk.remove(name.noteName, in: layout.partial) }
    let hasFile = file != nil || held != nil
    hasNote = false
    file = nil
    note = nil
    held = nil
    hash = SHA256()
    ending = PictureEnding()
    size = 0
    if hasFile { try? disk.remove(name, in: layout.partial) }
  }
}

/// Checks whether a picture has its format's end marker, when nothing else proves that the body is complete.
///
/// A length, a last chunk or the end of an HTTP/2 stream proves that a body is complete. A body that ends with its
/// connection may have been truncated on the way. libcurl accepts a TLS connection that ends without `close_notify`,
/// and a gzip stream without its trailer.
struct PictureEnding: Equatable {
  /// The number of first bytes to keep.
  static let headSize = 12
  /// The number of last bytes to keep, because some programs write padding after a picture.
  static let tailSize = 1024

  /// The first bytes.
  private(set) var head: [UInt8] = []
  /// The last bytes.
  private(set) var tail: [UInt8] = []
  /// The number of all bytes.
  private(set) var count: ByteCount = 0

  /// Adds the next bytes.
  mutating func append(_ bytes: [UInt8]) {
    if head.count < Self.headSize { head += bytes.prefix(Self.headSize - head.count) }
    count += ByteCount(bytes.count)
    // A slice, because `Sequence.suffix`, which returns an array, iterates over all bytes.
    tail += bytes[max(0, bytes.count - Self.tailSize)...]
    if tail.count > Self.tailSize { tail.removeFirst(tail.count - Self.tailSize) }
  }

  /// Whether the last bytes contain the end of a picture of this type.
  func isWhole(_ type: PictureType) -> Bool {
    type.ends(head: head, tail: tail, count: Int(count.count))
  }
}

extension ResponseHead {
  /// Whether the framing of the response proves that the body is complete.
  ///
  /// A length, a last chunk or the end of an HTTP/2 stream proves it, unless the connection closed with the stream.
  /// (RFC 9112, section 6.3; RFC 9113, section 8.1)
  ///
  /// - Parameter isOpen: See ``Response/connectionIsOpen``.
  /// - Returns: Whether the end is proved.
  func provesEnd(connectionIsOpen isOpen: Bool) -> Bool {
    guard !isEncoded else { return false }
    switch version {
    case .http2, .http3: return contentLength != nil || isOpen
    case .http11: return contentLength != nil || headers.contains("Transfer-Encoding")
    case .http10: return contentLength != nil
    }
  }
}
