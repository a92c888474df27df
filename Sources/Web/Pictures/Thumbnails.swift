import Base
import Cache
import Dispatch
import Glibc
import Imaging
import Pipeline
import Synchronization
import SystemPackage

/// Makes the small pictures of a page, on as many threads as there are processors.
///
/// A picture that cannot be read, or of which no thumbnail can be made, has none; nothing else fails.
package struct Thumbnails: Sendable {
  /// Pixels along a side.
  package static let side = 96

  private let cache: String
  private let folder: ThumbnailFolder
  private let order: PictureOrder
  private let pictures: any PictureWorking

  /// Thumbnails of the pictures of a cache, made where `pictures` says.
  package init(cache: String, pictures: any PictureWorking = PicturesHere()) {
    (self.cache, self.pictures) = (cache, pictures)
    folder = ThumbnailFolder(cache: cache, side: Self.side)
    order = PictureOrder(Crop(size: Self.side, format: .jpeg, quality: 82))
  }

  /// Makes those that are not kept yet, and hands each over; blocks.
  ///
  /// - Parameters:
  ///   - images: the pictures; those that are not held are passed by.
  ///   - isThere: whether nothing is wanted of a picture, by its digest.
  ///   - isStopped: asked before each; true leaves out the rest.
  ///   - progress: called on any thread with how many of how many were looked at.
  ///   - deliver: called on any thread with a picture's digest and its thumbnail.
  /// - Returns: The number of new thumbnails, and the number of all.
  package func make(
    of images: [ShownPicture],
    isThere: @Sendable (String) -> Bool = { _ in false },
    isStopped: @escaping @Sendable () -> Bool,
    progress: @escaping @Sendable (Int, Int) -> Void,
    deliver: @escaping @Sendable (String, [UInt8]) -> Void
  ) -> (made: Int, all: Int) {
    var seen: Set<String> = []
    let wanted = images.filter { image in
      guard let digest = image.sha256, image.path != nil else { return false }
      return seen.insert(digest).inserted
    }
    let next = Atomic(0)
    let looked = Atomic(0)
    let made = Atomic(0)
    let all = Atomic(0)
    let threads = min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), max(1, wanted.count))
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      while !isStopped() {
        let place = next.add(1, ordering: .relaxed).oldValue
        guard place < wanted.count else { return }
        let image = wanted[place]
        let digest = image.sha256 ?? ""
        if isThere(digest) {
          all.add(1, ordering: .relaxed)
        } else if let bytes = folder.read(digest) {
          deliver(digest, bytes)
          all.add(1, ordering: .relaxed)
        } else if let bytes = thumbnail(of: image, isStopped) {
          deliver(digest, bytes)
          made.add(1, ordering: .relaxed)
          all.add(1, ordering: .relaxed)
        }
        progress(looked.add(1, ordering: .relaxed).newValue, wanted.count)
      }
    }
    return (made.load(ordering: .relaxed), all.load(ordering: .relaxed))
  }

  /// A new thumbnail, kept for the next page; nil when there can be none.
  private func thumbnail(of image: ShownPicture, _ isStopped: () -> Bool) -> [UInt8]? {
    guard let path = image.path, let digest = image.sha256,
      let bytes = try? PictureInput.bytes(of: FilePath("\(cache)/\(path)"), order.limits),
      // A sync may have put other bytes there since the index was read.
      Hexadecimal.text(ContentDigest.sha256(bytes)) == digest,
      let square = try? pictures.make(
        order,
        of: .bytes(bytes, name: path),
        for: nil,
        isStopped: isStopped
      ),
      square.bytes.count <= Self.most
    else { return nil }
    folder.keep(square.bytes, of: digest)
    return square.bytes
  }

  /// A profile of inks alone may have half a megabyte: no picture of this size is worth that.
  private static let most = 64 << 10
}
