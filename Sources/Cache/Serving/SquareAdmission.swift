import Glibc

/// Keeps squares that a server made, under the cache's lock for as long as that takes.
package struct SquareAdmission: Sendable {
  private let cache: String

  /// An admission into the cache at a path.
  package init(into cache: String) {
    self.cache = cache
  }

  /// Keeps a square, or that there is none.
  ///
  /// - Parameters:
  ///   - square: The square's bytes, or why none can be made.
  ///   - picture: What it was made of.
  ///   - side: Pixels along a side.
  /// - Throws: ``CacheError``, with code `locked` while a run holds the cache.
  package func keep(
    _ square: Result<[UInt8], SquareRefusal>,
    of picture: PictureEntry,
    side: Int
  ) throws(CacheError) {
    let layout = try CacheLayout(creating: cache)
    let lock = try CacheLock(layout, holder: "\(CacheLock.briefHolder), process \(getpid())")
    defer { withExtendedLifetime(lock) {} }
    let index = try Index(layout)
    // The picture may be another one by now, or gone.
    guard try index.pictures([picture.id])[picture.id]?.sha256 == picture.sha256 else { return }
    let store = SquareStore(layout, index: index, side: side)
    switch square {
    case .success(let bytes): try store.store(bytes, of: picture)
    case .failure(let refusal): try store.note(refusal.words, of: picture)
    }
    try store.flush()
  }
}

/// Why a picture has no square.
package struct SquareRefusal: Error, Sendable {
  /// The reason, in words.
  package let words: String

  /// A reason in words.
  package init(_ words: String) {
    self.words = words
  }
}
