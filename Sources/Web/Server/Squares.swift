import Base
import Cache
import Imaging
import NIOCore
import Pipeline
import Synchronization

/// Makes squares (small square versions of pictures) that are requested and not in the cache, and adds them to it.
///
/// Concurrent requests for one square share the work.
final class Squares: Sendable {
  /// The result for a square.
  enum Outcome: Sendable {
    /// The square's bytes and type.
    ///
    /// The square may be in memory only, not in a file.
    case made([UInt8], PictureType?)
    /// No square can be made of the picture; the text says why.
    case refused(String)
    case busy
  }

  private struct Key: Hashable {
    let digest: [UInt8]
    let side: Int

    var text: String { "\(side) \(Hexadecimal.text(digest))" }
  }

  private struct Requests {
    var waiters: [Key: [@Sendable (Outcome) -> Void]] = [:]
    var counts = SquareCounts()
  }

  private let cache: String
  private let remote: (any RemotePictures)?
  private let pictures: any PictureWorking
  private let admission: SquareAdmission
  private let limits: PictureLimits
  private let state = Mutex(Requests())
  /// Makes one square at a time, because each needs memory for its whole picture.
  private let bench = WorkPool(threads: 1, most: 256)
  /// Squares that could not be written because a run held the cache's lock.
  private let unkept = LRUCache<(bytes: [UInt8], type: PictureType?)>(most: 16 << 20)

  /// Prepares to make squares of a cache's pictures.
  ///
  /// The pictures may be in an object store; the squares are always kept in the cache's folder.
  init(
    _ cache: String,
    remote: (any RemotePictures)? = nil,
    pictures: any PictureWorking = PicturesHere()
  ) {
    (self.cache, self.remote, self.pictures) = (cache, remote, pictures)
    admission = SquareAdmission(into: cache)
    var limits = PictureLimits()
    limits.memory = 64 << 20
    limits.fileBytes = 64 << 20
    self.limits = limits
  }

  /// The counts so far.
  var counts: SquareCounts { state.withLock { $0.counts } }

  /// Makes a square; calls `waiter` exactly once, on any thread.
  ///
  /// - Parameters:
  ///   - picture: The picture; its file is in `root`, or in the object store.
  ///   - digest: The SHA-256 of the picture's bytes.
  ///   - side: The side of the square, in pixels.
  ///   - root: The folder of the picture's file: the cache, or the working folder for pictures that are not in the
  ///     index yet.
  ///   - waiter: Called with the result.
  func make(
    of picture: PictureEntry,
    digest: [UInt8],
    side: Int,
    in root: String,
    _ waiter: @escaping @Sendable (Outcome) -> Void
  ) {
    let key = Key(digest: digest, side: side)
    if let made = unkept[key.text] {
      return waiter(.made(made.bytes, made.type))
    }
    let isFirst = state.withLock { state in
      defer { state.waiters[key, default: []].append(waiter) }
      return state.waiters[key] == nil
    }
    guard isFirst else { return }
    let begins = bench.begin { [self] in
      let outcome = made(of: picture, key, in: root)
      let waiters = state.withLock { state in
        if case .made = outcome { state.counts.made += 1 } else { state.counts.refused += 1 }
        return state.waiters.removeValue(forKey: key) ?? []
      }
      for waiter in waiters { waiter(outcome) }
    }
    guard !begins else { return }
    for waiter in state.withLock({ $0.waiters.removeValue(forKey: key) ?? [] }) { waiter(.busy) }
  }

  private func made(of picture: PictureEntry, _ key: Key, in root: String) -> Outcome {
    let order = PictureOrder(Crop(size: key.side, limits: limits))
    do throws(LarderError) {
      let square: EncodedPicture
      if let remote, root == cache {
        guard
          let bytes = try? remote.bytes(of: picture.name.path, most: ByteCount(limits.fileBytes))
        else {
          return .busy
        }
        square = try pictures.square(order, of: picture, bytes)
      } else {
        square = try pictures.square(order, of: picture, in: root)
      }
      keep(.success(square.bytes), of: picture, key, in: root)
      return .made(square.bytes, picture.type?.kept)
    } catch {
      // Do not record failures of these three kinds: another machine may have the library, or more memory.
      let isOfPicture = ![.library, .tooLarge, .worker].contains(error.code)
      if isOfPicture {
        keep(.failure(SquareRefusal(error.description)), of: picture, key, in: root)
      }
      return .refused(error.description)
    }
  }

  /// Writes a square into the cache; if that is impossible now, keeps it in memory for a while.
  private func keep(
    _ square: Result<[UInt8], SquareRefusal>,
    of picture: PictureEntry,
    _ key: Key,
    in root: String
  ) {
    do throws(LarderError) {
      if root == cache {
        return try admission.keep(square, of: picture, side: key.side)
      }
    } catch {
      // A run holds the cache's lock, or the cache cannot be written.
    }
    guard case .success(let bytes) = square else { return }
    unkept.add((bytes, picture.type?.kept), cost: bytes.count, for: key.text)
  }
}

/// Counts of squares, for `/metrics`.
struct SquareCounts: Sendable {
  var made = 0
  var refused = 0
}
