import Base
import Cache
import Imaging
import NIOCore
import Pipeline
import Synchronization

/// Squares that are asked for and not held: each is made once, however many ask, and kept.
final class Squares: Sendable {
  /// The result for a square.
  enum Outcome: Sendable {
    /// Its bytes and type; its file may not exist.
    case made([UInt8], PictureType?)
    /// None can be made of that picture.
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
  /// One at a time: a square takes memory by the size of its picture.
  private let bench = WorkPool(threads: 1, most: 256)
  /// The squares made while the cache could not be changed.
  private let unkept = LRUCache<(bytes: [UInt8], type: PictureType?)>(most: 16 << 20)

  /// Squares of the pictures in a cache, or in the store that keeps them for it; they themselves are kept in the cache.
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

  /// How many were made.
  var counts: SquareCounts { state.withLock { $0.counts } }

  /// Has a square made; `waiter` is told once, on any thread.
  ///
  /// - Parameters:
  ///   - picture: The picture, which is held.
  ///   - digest: The SHA-256 of its bytes.
  ///   - side: Pixels along a side.
  ///   - root: Where the picture's file is: the cache, or a room beside it, whose pictures have no row yet.
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
      // Another machine may have a library that does it, or more memory.
      let isOfPicture = ![.library, .tooLarge, .worker].contains(error.code)
      if isOfPicture {
        keep(.failure(SquareRefusal(error.description)), of: picture, key, in: root)
      }
      return .refused(error.description)
    }
  }

  /// Keeps a square where that can be done now; else it is remembered for a while.
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
      // A run holds the cache, or it cannot be written.
    }
    guard case .success(let bytes) = square else { return }
    unkept.add((bytes, picture.type?.kept), cost: bytes.count, for: key.text)
  }
}

/// How squares went.
struct SquareCounts: Sendable {
  var made = 0
  var refused = 0
}
