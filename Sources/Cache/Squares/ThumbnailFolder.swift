import Base
import Glibc

/// Small pictures for pages, kept in a cache so that the next page need not make them again:
/// `thumbnails/<side>/<2 hex>/<64 hex>.jpg`, named by the SHA-256 of the picture they were made of.
///
/// A name describes the content of its file, and a file appears by one rename: so no lock is needed to
/// add or read one, and several processes may do so at once. Nothing is synced: damage after a crash
/// is noticed on reading, and the thumbnail is made again.
package struct ThumbnailFolder: Sendable {
  private let path: String
  /// Whether thumbnails can be added: the cache belongs to the user of this process.
  private let keeps: Bool

  /// The thumbnails of a cache, `side` pixels along a side; makes nothing.
  package init(cache: String, side: Int) {
    path = "\(cache)/thumbnails/\(side)"
    var status = stat()
    keeps = stat(cache, &status) == 0 && status.st_uid == geteuid() && access(cache, W_OK) == 0
  }

  /// Reads a thumbnail that is there whole.
  ///
  /// - Parameter source: the digest of the picture, 64 hexadecimal digits.
  /// - Returns: The JPEG; nil when it has to be made.
  package func read(_ source: String) -> [UInt8]? {
    guard let bytes = Files.contents(of: file(source), most: Self.most), bytes.count >= 4 else {
      return nil
    }
    // The first and the last marker of a JPEG.
    let isWhole =
      bytes.starts(with: [0xFF, 0xD8]) && bytes.suffix(2).elementsEqual([0xFF, 0xD9])
    return isWhole ? bytes : nil
  }

  /// Keeps a thumbnail, if that is possible; the caller has it already.
  ///
  /// - Parameters:
  ///   - bytes: the JPEG.
  ///   - source: the digest of the picture that it was made of.
  package func keep(_ bytes: [UInt8], of source: String) {
    guard keeps, bytes.count <= Self.most else { return }
    let file = file(source)
    do throws(SystemError) {
      try Files.replace(file, with: bytes.span.bytes, isDurable: false)
    } catch {
      guard error.code == ENOENT else { return }
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      for count in [parts.count - 1, parts.count] {
        mkdir(parts.prefix(count).joined(separator: "/"), 0o755)
      }
      mkdir("\(path)/\(source.prefix(2))", 0o755)
      try? Files.replace(file, with: bytes.span.bytes, isDurable: false)
    }
  }

  /// More than any thumbnail has.
  private static let most = 1 << 20

  private func file(_ source: String) -> String { "\(path)/\(source.prefix(2))/\(source).jpg" }
}

/// Removes the thumbnails, of any size, of pictures that are no longer held, and other files there.
///
/// The caller holds the cache's lock, and calls this after removing pictures.
package struct ThumbnailSweep: Sendable {
  private let layout: CacheLayout
  private let index: Index

  /// A sweep of this cache.
  package init(_ layout: CacheLayout, _ index: Index) {
    (self.layout, self.index) = (layout, index)
  }

  /// Removes the useless thumbnails.
  ///
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func run() throws(LarderError) {
    guard layout.kind(of: "thumbnails") == S_IFDIR else { return }
    var held: Set<String> = []
    try index.forEachPicture { entry in
      if let digest = entry.sha256 { held.insert(Hexadecimal.text(digest) + ".jpg") }
    }
    let root = try Folder(path: layout.path("thumbnails"), creating: false)
    for side in try root.names() where root.kind(of: side) == S_IFDIR {
      let sizes = try Folder(path: "\(root.path)/\(side)", creating: false)
      for name in try sizes.names() where sizes.kind(of: name) == S_IFDIR {
        let folder = try Folder(path: "\(sizes.path)/\(name)", creating: false)
        for file in try folder.names() where !held.contains(file) {
          unlinkat(folder.descriptor, file, 0)
        }
      }
    }
  }
}
