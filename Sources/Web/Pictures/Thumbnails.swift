import Base
import Cache
import Dispatch
import Imaging
import Pipeline
import Synchronization
import SystemPackage

/// Makes the thumbnails of a report page, on as many threads as there are processors.
///
/// A picture that cannot be read or decoded gets no thumbnail.
struct Thumbnails: Sendable {
  /// The side of a thumbnail, in pixels.
  static let side = 96

  private let cache: String
  private let order: PictureOrder
  private let pictures: any PictureWorking

  /// Prepares to make thumbnails of a cache's pictures; `pictures` decides in which process they are made.
  init(cache: String, pictures: any PictureWorking = PicturesHere()) {
    (self.cache, self.pictures) = (cache, pictures)
    order = PictureOrder(Crop(size: Self.side, format: .jpeg, quality: 82))
  }

  /// Makes and delivers the thumbnails that the caller does not have yet; blocks.
  ///
  /// - Parameters:
  ///   - images: The pictures. A picture whose file is not in the cache is skipped.
  ///   - isThere: Tells whether the caller already has the thumbnail of a picture, given the picture's digest.
  ///   - isStopped: Called before each picture. If it returns true, all remaining pictures are skipped.
  ///   - progress: Called on any thread with the number of pictures done and the number of all pictures.
  ///   - deliver: Called on any thread with a picture's digest and the bytes of its thumbnail.
  func make(
    of images: [ShownPicture],
    isThere: @Sendable (String) -> Bool = { _ in false },
    isStopped: @escaping @Sendable () -> Bool,
    progress: @escaping @Sendable (Int, Int) -> Void,
    deliver: @escaping @Sendable (String, [UInt8]) -> Void
  ) {
    var seen: Set<String> = []
    let wanted = images.filter { image in
      guard let digest = image.sha256, image.path != nil else { return false }
      return seen.insert(digest).inserted
    }
    let looked = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: wanted.count) { place in
      if isStopped() { return }
      let image = wanted[place]
      let digest = image.sha256 ?? ""
      if !isThere(digest), let bytes = thumbnail(of: image, isStopped) { deliver(digest, bytes) }
      progress(looked.add(1, ordering: .relaxed).newValue, wanted.count)
    }
  }

  /// Makes a thumbnail; nil if it cannot be made.
  private func thumbnail(of image: ShownPicture, _ isStopped: () -> Bool) -> [UInt8]? {
    guard let path = image.path, let digest = image.sha256,
      let bytes = try? PictureInput.bytes(of: FilePath("\(cache)/\(path)"), order.limits),
      // A run of `sync` may have replaced the file since the index was read.
      Hexadecimal.text(ContentDigest.sha256(bytes)) == digest,
      let square = try? pictures.make(
        order,
        of: .bytes(bytes, name: path),
        for: nil,
        isStopped: isStopped
      ),
      square.bytes.count <= Self.most
    else { return nil }
    return square.bytes
  }

  /// The maximum size of a thumbnail, in bytes.
  ///
  /// Some thumbnails are much larger than their pixels need, because a CMYK profile alone can take half a megabyte.
  private static let most = 64 << 10
}
