/// Looks again at what seemed wrong, until looking again changes nothing.
///
/// One look alone cannot tell: a run that begins and ends between it and the reading of the rows would
/// leave every file that it replaced looking damaged.
struct SuspectReview {
  /// What one look at some files found.
  struct Look {
    /// What seems wrong.
    var report = VerifyReport()
    /// The files in `report` that a run would leave so for a moment: placed, but not entered yet.
    var underWay: Set<String> = []
    /// Files whose row changed while they were looked at.
    var unsettled: Set<String> = []
  }

  /// How often files are looked at whose rows change each time.
  private static let mostLooks = 8

  private let layout: CacheLayout
  private let isAlone: Bool

  /// - Parameters:
  ///   - layout: The cache.
  ///   - isAlone: Whether the caller itself holds the cache's lock, so that nobody else is at work.
  init(_ layout: CacheLayout, isAlone: Bool) {
    self.layout = layout
    self.isAlone = isAlone
  }

  /// Looks at files again and again, each time at those only that still seem wrong, until two looks in
  /// turn say the same.
  ///
  /// While a run holds the cache, what it may be placing at this moment is left out.
  func settled(
    _ paths: Set<String>,
    _ look: (Set<String>) throws(CacheError) -> Look
  ) throws(CacheError) -> VerifyReport {
    var (paths, last) = (paths, VerifyReport?.none)
    for _ in 0..<Self.mostLooks where !paths.isEmpty {
      let wasAtWork = try isRunAtWork()
      var found = try look(paths)
      let isAtWork = try isRunAtWork()
      if wasAtWork || isAtWork { found.report.remove(found.underWay) }
      if found.report == last, found.unsettled.isEmpty { break }
      paths = found.report.paths.union(found.unsettled)
      last = found.report
    }
    return last ?? VerifyReport()
  }

  private func isRunAtWork() throws(CacheError) -> Bool {
    if isAlone { return false }
    return try CacheLock.isHeld(layout)
  }
}
