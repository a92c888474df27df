import Base
import Glibc
import Hashing
import Synchronization
import Transport

/// Writes a large picture to its file in `partial/` while it is received, or continues the file of an earlier run.
///
/// All work is done on one of the store's writer queues. Other threads are allowed to use only ``failure``.
final class PartialPicture: @unchecked Sendable {
  // SAFETY: `hash`, `file`, `note`, `size`, `ending`, `held` and `hasNote` are used only on the serial writer queue
  // `queue`. `failure` has a lock, because the transfer thread reads it. Everything else is constant.
  private var hash = SHA256()
  private(set) var file: OpenFile?
  private(set) var size: ByteCount = 0
  /// The first and the last bytes of the picture.
  private(set) var ending = PictureEnding()
  /// Whether there is a note beside the file; see ``PartialBody``.
  private(set) var hasNote = false
  /// The open note.
  ///
  /// After each piece, a line is added to it.
  private var note: OpenFile?
  /// The description of an earlier run's file, until the bytes of that file are hashed.
  private var held: PartialBody?
  /// The description for the note; nil if the download cannot be resumed.
  private let body: PartialBody?
  private let name: String
  /// The writer queue that does all work for this picture.
  let queue: WriterQueue
  let failure = Mutex<LarderError?>(nil)

  /// Prepares to write a new file, or to continue the file of an earlier run, which `held` describes.
  ///
  /// `body` is the description for the note of a new file, and nil if the download cannot be resumed.
  init(
    id: PictureID,
    body: PartialBody? = nil,
    resuming held: PartialBody? = nil,
    queue: WriterQueue
  ) {
    (name, self.body, self.held, self.queue) = (id.partialName, body, held, queue)
    hasNote = held != nil
  }

  /// Appends a piece of the picture.
  ///
  /// The first piece creates the file.
  func append(_ bytes: [UInt8], _ layout: CacheLayout, _ disk: any Disk) throws(LarderError) {
    let file: OpenFile
    if let open = self.file { file = open } else { file = try open(layout, disk) }
    hash.add(bytes.span.bytes)
    ending.append(bytes)
    try disk.append(bytes.span.bytes, to: file)
    size += ByteCount(bytes.count)
    if let note {
      // Write to the note after the file. A run that resumes the download removes the bytes at the file's end that the
      // note does not cover.
      let line = PartialBody.line(size, sha256: digest())
      try disk.append(Array(line.utf8).span.bytes, to: note)
    }
  }

  /// Creates the file and its note, or opens the file and the note of an earlier run and hashes the file's bytes.
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
      // Create the note after the file, which is now empty. So the note is never beside the bytes of another download.
      hasNote = true
      let note = try disk.create(name.noteName, in: layout.partial)
      try disk.append(Array(body.note(boot: PartialBody.boot).utf8).span.bytes, to: note)
      self.note = note
    }
    return file
  }

  private func hash(_ count: ByteCount, of file: OpenFile) throws(LarderError) {
    let found = try file.forEachPiece(upTo: count) { piece in
      hash.add(piece.span.bytes)
      ending.append(Array(piece))
    }
    guard found == count else { throw .system("read", file.path, errno: ENODATA) }
  }

  /// The SHA-256 of all bytes of the picture so far.
  func digest() -> [UInt8] {
    hash.digest
  }

  /// Closes the file and leaves it, with its note, for a later run; returns false if no run could resume the download.
  func leave() -> Bool {
    guard hasNote, failure.withLock({ $0 == nil }) else { return false }
    file = nil
    note = nil
    return true
  }

  /// Removes the file and its note.
  ///
  /// If that fails, the next run removes them.
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

/// Checks whether a picture contains the end marker of its format.
///
/// This is needed if nothing else proves that the body of a response is complete. The length of the body, a last chunk
/// or the end of an HTTP/2 stream proves it. But if a body ends with its connection, it may have been truncated on the
/// way. libcurl accepts a TLS connection that ends without `close_notify`, and a gzip stream without its trailer.
struct PictureEnding: Equatable {
  /// The number of bytes to keep from the beginning of the picture.
  static let headSize = 12
  /// The number of bytes to keep from the end of the picture.
  ///
  /// There are many, because some programs write padding after the end marker.
  static let tailSize = 1024

  private(set) var head: [UInt8] = []
  private(set) var tail: [UInt8] = []
  private(set) var count: ByteCount = 0

  /// Adds the next bytes of the picture.
  mutating func append(_ bytes: [UInt8]) {
    if head.count < Self.headSize { head += bytes.prefix(Self.headSize - head.count) }
    count += ByteCount(bytes.count)
    // Use a slice, because `Sequence.suffix` iterates over all bytes.
    tail += bytes[max(0, bytes.count - Self.tailSize)...]
    if tail.count > Self.tailSize { tail.removeFirst(tail.count - Self.tailSize) }
  }

  /// Whether the last bytes contain the end marker of a picture of this type.
  func isWhole(_ type: PictureType) -> Bool {
    type.ends(head: head, tail: tail, count: Int(count.count))
  }
}

extension ResponseHead {
  /// Whether the framing of the response proves that the body is complete.
  ///
  /// A length, a last chunk or the end of an HTTP/2 stream proves it. The end of a stream proves nothing if the
  /// connection was closed at the same time. (RFC 9112, section 6.3; RFC 9113, section 8.1)
  ///
  /// - Parameter isOpen: Whether the connection is still open; see ``Response/connectionIsOpen``.
  /// - Returns: Whether the body is known to be complete.
  func provesEnd(connectionIsOpen isOpen: Bool) -> Bool {
    guard !isEncoded else { return false }
    switch version {
    case .http2: return contentLength != nil || isOpen
    case .http11: return contentLength != nil || headers.contains("Transfer-Encoding")
    case .http10: return contentLength != nil
    }
  }
}
