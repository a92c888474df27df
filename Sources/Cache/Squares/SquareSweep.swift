/// Removes the squares, of any size, that are of no use: those whose picture has gone or changed, and
/// files below `squares/` that no row knows.
///
/// The caller holds the cache's lock; whoever removes pictures calls this afterwards.
package struct SquareSweep: Sendable {
  private let layout: CacheLayout
  private let index: Index

  /// A sweep of this cache.
  package init(_ layout: CacheLayout, _ index: Index) {
    self.layout = layout
    self.index = index
  }

  /// Removes what is of no use.
  ///
  /// - Returns: How many files went.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read or changed.
  package func run() throws(CacheError) -> Int {
    guard layout.kind(of: "squares") != nil else { return 0 }
    // Rows first, so that a crash leaves files without rows, which the next sweep finds, and never the
    // reverse: a picture that comes back would be in step with a square that is gone.
    try index.forget(try index.squares(inStep: false))
    let known = Set(try index.squares().compactMap { $0.sha256 == nil ? nil : $0.name })
    let orphans = try layout.squareFiles().filter { !known.contains($0) }
    for path in orphans { try layout.remove(path) }
    return orphans.count
  }
}
