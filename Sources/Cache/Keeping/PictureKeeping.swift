import Base
import Glibc
import Transport

/// Keeps whole pictures elsewhere than in the cache's own `images/`: in an object store.
///
/// What is put is there whole or not at all, under the path that it would have in the cache's folder, and with what its
/// row says, so that an index that is lost can be made anew from the store alone. A cache with a keeper has no
/// picture in its own folder; its index, its lock and what is on its way stay there.
///
/// All calls but ``put(_:_:completion:)`` block. What may pass has been tried again when one throws.
package protocol PictureKeeping: Sendable {
  /// What it is called, for messages: `s3://bucket/prefix`.
  var name: String { get }

  /// Puts a picture, in place of what is there.
  ///
  /// - Parameters:
  ///   - entry: Its row, but for the stamp.
  ///   - bytes: Its bytes, which stay readable until the end.
  ///   - completion: Called once, on any thread, with the stamp of what is there now.
  func put(
    _ entry: PictureEntry,
    _ bytes: KeptBytes,
    completion: @escaping @Sendable (Result<FileStamp, CacheError>) -> Void
  )

  /// Lists what is kept, in the order of the paths.
  ///
  /// - Parameter body: Given each.
  /// - Throws: ``CacheError`` when the store does not tell; what `body` throws.
  func forEach(_ body: (KeptObject) throws(CacheError) -> Void) throws(CacheError)

  /// Asks what was put with these pictures.
  ///
  /// - Parameter paths: Where they are.
  /// - Returns: What is there, by path. One that larder did not put has no SHA-256; one whose URL is too long to be
  ///   kept with it has no URL.
  /// - Throws: ``CacheError`` when the store does not tell.
  func rows(at paths: [String]) throws(CacheError) -> [String: PictureEntry]

  /// Reads a picture.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - restart: Called before the bytes come again from the first one, because a transfer broke.
  ///   - piece: Given the bytes in order, on a thread of the store's.
  /// - Returns: The stamp; nil when there is no such picture.
  /// - Throws: ``CacheError`` when it cannot be read.
  func read(
    _ path: String,
    restart: @escaping @Sendable () -> Void,
    piece: @escaping @Sendable (RawSpan) -> Void
  ) throws(CacheError) -> FileStamp?

  /// Reads a part of a picture; does not block.
  ///
  /// - Parameters:
  ///   - range: Which bytes, at least one.
  ///   - path: Where the picture is.
  ///   - completion: Called once, on any thread, with the part; nil when there is no picture that has these bytes.
  func part(
    _ range: Range<Int>,
    of path: String,
    completion: @escaping @Sendable (Result<KeptPart?, CacheError>) -> Void
  )

  /// Gives pictures other paths, with what was put with them; quiet about those that are gone.
  ///
  /// What is at a new path already is replaced. When it ends early, each picture is at one of its paths or at both.
  ///
  /// - Parameter paths: Where each is and where it is to be.
  /// - Throws: ``CacheError`` when one stays.
  func move(_ paths: [(from: String, to: String)]) throws(CacheError)

  /// Removes pictures; quiet about those that are gone.
  ///
  /// - Parameter paths: Where they are.
  /// - Throws: ``CacheError`` when one stays.
  func remove(_ paths: [String]) throws(CacheError)
}

/// A part of a picture that a store keeps.
package struct KeptPart: Sendable {
  /// All the bytes that were asked for.
  package var bytes: [UInt8]
  /// The row that was put with the whole picture, with its stamp; see ``PictureKeeping/rows(at:)``.
  package var entry: PictureEntry

  /// Makes one from its parts.
  package init(bytes: [UInt8], entry: PictureEntry) {
    (self.bytes, self.entry) = (bytes, entry)
  }
}

/// What a store lists of one picture.
package struct KeptObject: Sendable, Equatable {
  /// The path that it would have in a cache's folder.
  package var path: String
  /// What tells it from another version.
  package var stamp: FileStamp
  /// When it was put.
  package var changed: UnixTime

  /// Makes one from its parts.
  package init(path: String, stamp: FileStamp, changed: UnixTime) {
    (self.path, self.stamp, self.changed) = (path, stamp, changed)
  }
}

/// The bytes of a picture that is to be put, read a piece at a time.
package struct KeptBytes: Sendable {
  /// How many there are.
  package let count: ByteCount
  private let read: @Sendable (Range<Int>) throws(CacheError) -> [UInt8]

  /// Bytes of any kind.
  ///
  /// - Parameters:
  ///   - count: How many there are.
  ///   - read: Reads a range of them, all of it.
  package init(
    count: ByteCount,
    read: @escaping @Sendable (Range<Int>) throws(CacheError) -> [UInt8]
  ) {
    self.count = count
    self.read = read
  }

  /// The bytes of a file.
  init(_ file: OpenFile, count: ByteCount) {
    self.init(count: count) { range throws(CacheError) in try file.bytes(range) }
  }

  /// Reads some.
  ///
  /// - Parameter range: Which.
  /// - Returns: All of them.
  /// - Throws: ``CacheError`` when the file does not have them.
  package func bytes(_ range: Range<Int>) throws(CacheError) -> [UInt8] { try read(range) }
}

extension OpenFile {
  /// Reads bytes of the file.
  ///
  /// - Throws: ``CacheError`` when it does not have them all.
  fileprivate func bytes(_ range: Range<Int>) throws(CacheError) -> [UInt8] {
    do throws(SystemError) {
      let bytes = try Files.bytes(of: descriptor, range.count, at: range.lowerBound)
      guard bytes.count == range.count else { throw SystemError(code: ENODATA) }
      return bytes
    } catch {
      throw .system("read", path, errno: error.code)
    }
  }
}
