import Base
import Cache
import Imaging
import Pipeline
import Synchronization

/// Makes square versions of pictures, such as the 256-pixel square of a photo, and adds them to the cache.
///
/// Concurrent requests for one square share the work.
final class Squares: Sendable {
  /// The square's bytes, or the answer to a request for a square that was not made.
  ///
  /// If a run holds the cache's lock, the square is only in memory and not in a file.
  typealias Outcome = Result<[UInt8], Answer>

  private let cache: String
  private let remote: (any RemotePictures)?
  private let pictures: any PictureWorking
  private let limits: PictureLimits
  private let tally = Mutex(SquareCounts())
  /// Makes one square at a time, because making a square needs memory for the whole picture.
  private let making = SharedWork<String, Outcome>(threads: 1, most: 256, busy: .failure(.busy))
  /// Squares that could not be written because a run held the cache's lock.
  private let unkept = LRUCache<[UInt8]>(most: 16 << 20)

  /// Prepares to make squares of a cache's pictures.
  ///
  /// The pictures may be in an object store. The squares are always kept in the cache's folder.
  init(_ cache: String, remote: (any RemotePictures)?, pictures: any PictureWorking) {
    (self.cache, self.remote, self.pictures) = (cache, remote, pictures)
    var limits = PictureLimits()
    limits.memory = 64 << 20
    limits.fileBytes = 64 << 20
    self.limits = limits
  }

  var counts: SquareCounts { tally.withLock { $0 } }

  /// Makes a square; calls `waiter` exactly once, on any thread.
  ///
  /// - Parameters:
  ///   - picture: The picture. Its file is in the cache or in `room`, or it is in the object store.
  ///   - digest: The SHA-256 of the picture's bytes.
  ///   - side: The side of the square, in pixels.
  ///   - room: The working folder with the picture's file; nil if the picture is in the index already.
  ///   - waiter: Called with the result.
  func make(
    of picture: PictureEntry,
    digest: [UInt8],
    side: Int,
    room: String?,
    _ waiter: @escaping @Sendable (Outcome) -> Void
  ) {
    let key = "\(side) \(Hexadecimal.text(digest))"
    if let made = unkept[key] { return waiter(.success(made)) }
    making.ask(key, waiter) { [self] in
      let outcome = made(of: picture, side, key, room)
      tally.withLock { tally in
        if case .success = outcome { tally.made += 1 } else { tally.refused += 1 }
      }
      return outcome
    }
  }

  private func made(
    of picture: PictureEntry,
    _ side: Int,
    _ key: String,
    _ room: String?
  ) -> Outcome {
    let order = PictureOrder(Crop(size: side, limits: limits))
    do throws(LarderError) {
      let square: EncodedPicture
      if let remote, room == nil {
        let most = ByteCount(limits.fileBytes)
        guard let bytes = try? remote.bytes(of: picture.name.path, most: most) else {
          return .failure(.busy)
        }
        square = try pictures.square(order, of: picture, bytes)
      } else {
        square = try pictures.square(order, of: picture, in: room ?? cache)
      }
      if !keep(.success(square.bytes), of: picture, side, room) {
        unkept.add(square.bytes, cost: square.bytes.count, for: key)
      }
      return .success(square.bytes)
    } catch {
      // Failures of these three kinds are not recorded, because another machine may have the library or more memory.
      if ![.library, .tooLarge, .worker].contains(error.code) {
        _ = keep(.failure(error), of: picture, side, room)
      }
      return .failure(.noSquare(error.description))
    }
  }

  /// Writes a square, or the reason why there is none, into the cache.
  ///
  /// - Returns: False if a run holds the cache's lock, the cache cannot be written, or the picture is not in it yet.
  private func keep(
    _ square: Result<[UInt8], LarderError>,
    of picture: PictureEntry,
    _ side: Int,
    _ room: String?
  ) -> Bool {
    guard room == nil else { return false }
    return (try? SquareStore.admit(square, of: picture, side: side, into: cache)) != nil
  }
}

/// The numbers of squares that were made and refused, for `/metrics`.
struct SquareCounts: Sendable {
  var made = 0
  var refused = 0
}
