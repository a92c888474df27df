import Base
import Glibc

/// The thumbnails for report pages, which are stored in the cache so that they are made only once.
///
/// The path of a thumbnail is `thumbnails/<side>/<2 hex>/<64 hex>.jpg`. The hexadecimal digits are the SHA-256 of the
/// picture that the thumbnail was made of.
///
/// Files are renamed into place, and their names depend only on the picture. So several processes can add and read
/// thumbnails without a lock. Nothing is synced. If a crash damages a thumbnail, this is noticed when it is read, and
/// it is made again.
package struct ThumbnailFolder: Sendable {
  private let path: String
  /// Whether thumbnails can be added, because the user of this process owns the cache and is allowed to write to it.
  private let keeps: Bool

  /// Prepares to read and store thumbnails with `side` pixels along a side.
  ///
  /// Nothing is created on disk yet.
  package init(cache: String, side: Int) {
    path = "\(cache)/thumbnails/\(side)"
    var status = stat()
    keeps = stat(cache, &status) == 0 && status.st_uid == geteuid() && access(cache, W_OK) == 0
  }

  /// Reads the thumbnail of a picture.
  ///
  /// - Parameter source: The SHA-256 of the picture, 64 hexadecimal digits.
  /// - Returns: The bytes of the JPEG file; nil if it is missing or damaged.
  package func read(_ source: String) -> [UInt8]? {
    guard let bytes = Files.contents(of: file(source), most: Self.most), bytes.count >= 4 else {
      return nil
    }
    // A whole JPEG begins with the marker SOI and ends with the marker EOI.
    let isWhole =
      bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2).elementsEqual([0xFF, 0xD9])
    return isWhole ? bytes : nil
  }

  /// Stores a thumbnail.
  ///
  /// Errors are ignored, because the caller has the thumbnail anyway.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the JPEG file.
  ///   - source: The SHA-256 of the picture that it was made of, 64 hexadecimal digits.
  package func keep(_ bytes: [UInt8], of source: String) {
    guard keeps, bytes.count <= Self.most else { return }
    let file = file(source)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      guard error.code == ENOENT, (try? CacheLayout.makeParents(of: file)) != nil else { return }
      try? Files.replace(file, with: bytes.span.bytes, isDurable: false)
    }
  }

  /// The maximum size of a thumbnail in bytes.
  ///
  /// Larger files are neither stored nor read.
  private static let most = 1 << 20

  private func file(_ source: String) -> String { "\(path)/\(source.prefix(2))/\(source).jpg" }
}

extension CacheLayout {
  /// Removes the thumbnails of pictures that are no longer in the cache, and all other files in the thumbnail folders.
  ///
  /// The caller holds the cache's lock, and calls this after the removal of pictures.
  ///
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func sweepThumbnails(_ index: Index) throws(LarderError) {
    guard kind(of: "thumbnails") == S_IFDIR else { return }
    var held: Set<String> = []
    try index.forEachPicture { entry in
      if let digest = entry.sha256 { held.insert(Hexadecimal.text(digest) + ".jpg") }
    }
    let thumbnails = try Folder(path: path("thumbnails"), creating: false)
    for side in try thumbnails.names() where thumbnails.kind(of: side) == S_IFDIR {
      let folders = try Folder(side, in: thumbnails)
      for name in try folders.names() where folders.kind(of: name) == S_IFDIR {
        let folder = try Folder(name, in: folders)
        for file in try folder.names() where !held.contains(file) {
          unlinkat(folder.descriptor, file, 0)
        }
      }
    }
  }
}
