import Base
import Glibc
import Synchronization

/// Keeps whole pictures elsewhere than in the cache's own `images/`: in an object store.
///
/// A put is whole or absent, under the path that the picture would have in the cache's folder, and with the fields of
/// its row, so that a lost index can be rebuilt from the store alone. A cache with a remote has no picture in its own
/// folder; its index, its lock and its temporary files stay there.
///
/// All calls but ``put(_:_:completion:)`` block. Temporary failures have been retried when one throws.
package protocol RemotePictures: Sendable {
  /// Its name in messages: `s3://bucket/prefix`.
  var name: String { get }

  /// Puts a picture, replacing an existing one.
  ///
  /// - Parameters:
  ///   - entry: Its row, but for the stamp.
  ///   - bytes: Its bytes, which stay readable until the end.
  ///   - completion: Called once, on any thread, with the stamp of the stored object.
  func put(
    _ entry: PictureEntry,
    _ bytes: RemoteBytes,
    completion: @escaping @Sendable (Result<FileStamp, LarderError>) -> Void
  )

  /// Lists the kept objects, in the order of their paths.
  ///
  /// - Parameter body: Given each.
  /// - Throws: ``LarderError`` when the store does not answer; errors of `body`.
  func forEach(_ body: (RemoteObject) throws(LarderError) -> Void) throws(LarderError)

  /// Requests the metadata of these pictures.
  ///
  /// - Parameter paths: Where they are.
  /// - Returns: The pictures that exist, by path. One that larder did not put has no SHA-256; one whose URL is too
  ///   long to be kept with it has no URL.
  /// - Throws: ``LarderError`` when the store does not tell.
  func rows(at paths: [String]) throws(LarderError) -> [String: PictureEntry]

  /// Reads a picture.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - restart: Called before the bytes come again from the first one, because a transfer broke.
  ///   - piece: Given the bytes in order, on a thread of the store's.
  /// - Returns: The stamp; nil when there is no such picture.
  /// - Throws: ``LarderError`` when it cannot be read.
  func read(
    _ path: String,
    restart: @escaping @Sendable () -> Void,
    piece: @escaping @Sendable (RawSpan) -> Void
  ) throws(LarderError) -> FileStamp?

  /// Reads a part of a picture; does not block.
  ///
  /// - Parameters:
  ///   - range: Which bytes, at least one.
  ///   - path: Where the picture is.
  ///   - completion: Called once, on any thread, with the part; nil when there is no picture that has these bytes.
  func part(
    _ range: Range<Int>,
    of path: String,
    completion: @escaping @Sendable (Result<RemotePart?, LarderError>) -> Void
  )

  /// Gives pictures other paths, with their metadata; ignores those that are gone.
  ///
  /// An object at a new path is replaced. When it ends early, each picture is at one of its paths or at both.
  ///
  /// - Parameter paths: Where each is and where it is to be.
  /// - Throws: ``LarderError`` when one stays.
  func move(_ paths: [(from: String, to: String)]) throws(LarderError)

  /// Removes pictures; quiet about those that are gone.
  ///
  /// - Parameter paths: Where they are.
  /// - Throws: ``LarderError`` when one stays.
  func remove(_ paths: [String]) throws(LarderError)
}

/// A part of a picture that a store keeps.
package struct RemotePart: Sendable {
  /// All the bytes that were asked for.
  package var bytes: [UInt8]
  /// The row that was put with the whole picture, with its stamp; see ``RemotePictures/rows(at:)``.
  package var entry: PictureEntry

  /// Makes one from its parts.
  package init(bytes: [UInt8], entry: PictureEntry) {
    (self.bytes, self.entry) = (bytes, entry)
  }
}

/// A store's list entry of one picture.
package struct RemoteObject: Sendable, Equatable {
  /// The path that it would have in a cache's folder.
  package var path: String
  /// Its size and tag, which differ for each version.
  package var stamp: FileStamp
  /// When it was put.
  package var changed: UnixTime

  /// Makes one from its parts.
  package init(path: String, stamp: FileStamp, changed: UnixTime) {
    (self.path, self.stamp, self.changed) = (path, stamp, changed)
  }
}

/// The bytes of a picture that is to be put, read a piece at a time.
package struct RemoteBytes: Sendable {
  /// How many there are.
  package let count: ByteCount
  private let read: @Sendable (Range<Int>) throws(LarderError) -> [UInt8]

  /// Bytes of any kind.
  ///
  /// - Parameters:
  ///   - count: How many there are.
  ///   - read: Reads a range of them, all of it.
  package init(
    count: ByteCount,
    read: @escaping @Sendable (Range<Int>) throws(LarderError) -> [UInt8]
  ) {
    self.count = count
    self.read = read
  }

  /// The bytes of a file.
  init(_ file: OpenFile, count: ByteCount) {
    self.init(count: count) { range throws(LarderError) in try file.bytes(range) }
  }

  /// Reads some.
  ///
  /// - Parameter range: Which.
  /// - Returns: All of them.
  /// - Throws: ``LarderError`` when the file does not have them.
  package func bytes(_ range: Range<Int>) throws(LarderError) -> [UInt8] { try read(range) }
}

extension OpenFile {
  /// Reads bytes of the file.
  ///
  /// - Throws: ``LarderError`` when it does not have them all.
  fileprivate func bytes(_ range: Range<Int>) throws(LarderError) -> [UInt8] {
    do throws(SystemError) {
      let bytes = try Files.bytes(of: descriptor, range.count, at: range.lowerBound)
      guard bytes.count == range.count else { throw SystemError(code: ENODATA) }
      return bytes
    } catch {
      throw .system("read", path, errno: error.code)
    }
  }
}

/// One list of a store, for many look-ups.
final class RemoteListing: Sendable {
  /// The store.
  let remote: any RemotePictures
  private let found = Mutex<[String: RemoteObject]?>(nil)

  init(_ remote: any RemotePictures) {
    self.remote = remote
  }

  /// The kept objects, by path; requested on first use.
  ///
  /// - Throws: ``LarderError`` when the store does not tell.
  func objects() throws(LarderError) -> [String: RemoteObject] {
    if let known = found.withLock({ $0 }) { return known }
    var objects: [String: RemoteObject] = [:]
    try remote.forEach { object in objects[object.path] = object }
    found.withLock { [objects] in $0 = objects }
    return objects
  }

  /// Has the next look ask again.
  func forget() { found.withLock { $0 = nil } }
}

/// A picture of a store as a file of this machine, for as long as it is of use.
package struct RemoteCopy {
  /// Where the file is.
  package let path: String
  /// Whether the store has the picture.
  package let isThere: Bool

  /// Fetches a picture.
  ///
  /// - Parameters:
  ///   - source: Where the store keeps it.
  ///   - remote: The store.
  ///   - path: The file, which is rewritten.
  /// - Throws: ``LarderError`` when the store cannot be read or the file not written.
  package init(
    of source: String,
    in remote: any RemotePictures,
    to path: String
  ) throws(LarderError) {
    self.path = path
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .system("create", path, errno: errno) }
    defer { close(descriptor) }
    let failure = Mutex<LarderError?>(nil)
    let stamp = try remote.read(
      source,
      restart: {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
          return failure.withLock { $0 = .system("cut", path, errno: errno) }
        }
      },
      piece: { bytes in
        guard failure.withLock({ $0 == nil }) else { return }
        do throws(SystemError) {
          try Files.write(bytes, to: descriptor)
        } catch {
          failure.withLock { $0 = .system("write", path, errno: error.code) }
        }
      }
    )
    if let failure = failure.withLock({ $0 }) { throw failure }
    isThere = stamp != nil
  }

  /// Removes the file.
  package func remove() { unlink(path) }

  /// The SHA-256 of a file's bytes in hexadecimal; nil when it is no regular file that can be read.
  package static func digest(ofFile path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"),
      let folder = try? Folder(path: String(path[..<slash]), creating: false)
    else { return nil }
    let name = String(path[path.index(after: slash)...])
    guard let digest = try? folder.digest(of: name)?.sha256 else { return nil }
    return Hexadecimal.text(digest)
  }
}
