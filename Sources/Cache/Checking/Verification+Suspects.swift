extension VerifyReport {
  /// Adds what another part of the check found; paths stay sorted.
  mutating func add(_ other: VerifyReport) {
    checked += other.checked
    damaged = (damaged + other.damaged).sorted()
    missing = (missing + other.missing).sorted()
    orphans = (orphans + other.orphans).sorted()
    unreadable = (unreadable + other.unreadable).sorted()
  }

  /// Adds a file that was looked at.
  mutating func add(_ path: String, _ verdict: Verification.Verdict) {
    switch verdict {
    case .good: break
    case .damaged: damaged.append(path)
    case .missing: missing.append(path)
    case .unreadable: unreadable.append(path)
    }
  }

  /// Every file that something is wrong with.
  var paths: Set<String> { Set(damaged + missing + orphans + unreadable) }

  /// Leaves these files out.
  mutating func remove(_ paths: Set<String>) {
    damaged.removeAll(where: paths.contains)
    missing.removeAll(where: paths.contains)
    orphans.removeAll(where: paths.contains)
  }
}

extension Verification {
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

  /// Looks at files again and again, each time at those only that still seem wrong, until two looks in
  /// turn say the same.
  ///
  /// One look alone cannot tell: a run that begins and ends between it and the reading of the rows would
  /// leave every file that it replaced looking damaged. While a run holds the cache, what it may be
  /// placing at this moment is left out.
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

  /// Looks at pictures and at files that seemed to be nobody's.
  ///
  /// - Parameters:
  ///   - paths: the files.
  ///   - ids: whose file each is, of those that had a row.
  ///   - depth: how closely.
  /// - Returns: What seems wrong now.
  /// - Throws: ``CacheError`` when the index or a folder cannot be read.
  func look(
    at paths: Set<String>,
    _ ids: [String: PictureID],
    _ depth: Depth
  ) throws(CacheError) -> Look {
    var found = Look()
    let pictures = paths.compactMap { ids[$0] }
    let before = try index.pictures(pictures)
    var verdicts: [PictureID: Verdict] = [:]
    for (id, entry) in before where entry.isHeld { verdicts[id] = judge(entry, depth) }
    let after = try index.pictures(pictures)
    for path in paths.sorted() {
      guard let id = ids[path], let verdict = verdicts[id] else { continue }
      guard let entry = after[id], entry.sha256 == before[id]?.sha256,
        entry.stamp == before[id]?.stamp
      else {
        found.unsettled.insert(path)
        continue
      }
      found.report.add(path, verdict)
      if verdict == .damaged(isNewer: true) { found.underWay.insert(path) }
    }
    let nobodys = paths.filter { ids[$0] == nil }
    guard !nobodys.isEmpty else { return found }
    let known = try heldPaths()
    for path in nobodys.sorted() where !known.contains(path) && layout.kind(of: path) != nil {
      found.report.orphans.append(path)
      if PictureName.mayName(path) { found.underWay.insert(path) }
    }
    return found
  }
}

extension PictureName {
  /// Whether a path in the cache is one that a picture could have, of whatever URL.
  static func mayName(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "images", let folder = UInt8(parts[1], radix: 16),
      folderName(folder) == parts[1], let dot = parts[2].lastIndex(of: "."),
      let dash = parts[2][..<dot].lastIndex(of: "-")
    else { return false }
    let digits = parts[2][parts[2].index(after: dash)..<dot]
    // The digits are the identity's upper 48 bits, of which the folder's number is the second to ninth.
    guard digits.utf8.count == 12, let number = UInt64(digits, radix: 16) else { return false }
    return UInt8(truncatingIfNeeded: number >> 39) == folder
  }
}
