import Dispatch
import Synchronization

/// Checks every file of a cache against what was committed.
///
/// A run may be at work meanwhile. What seems wrong is therefore looked at again with its row read anew,
/// until looking again changes nothing; and while a run holds the cache, a file that got its name after
/// its row was written is that run's to enter, not damage.
///
/// Memory is 16 bytes for each picture, and what is found.
package struct Verification: Sendable {
  /// How closely a file is looked at.
  package enum Depth: Sendable {
    /// Its size and date.
    case fast
    /// Every byte.
    case full
  }

  /// How many pictures are looked at between two moments at which the check can be interrupted.
  private static let pass = 256

  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let judge: PictureJudge
  private let review: SuspectReview

  /// A check of the cache with these folders and this index.
  ///
  /// - Parameters:
  ///   - layout: the cache's folders.
  ///   - index: its index.
  ///   - isAlone: whether the caller holds the cache's lock, so that nobody else is at work.
  package init(_ layout: CacheLayout, _ index: Index, isAlone: Bool = false) {
    self.init(layout, index, isAlone: isAlone) { name throws(CacheError) in
      try layout.digest(of: name)
    }
  }

  /// The same with another way to read a picture's file in full, to see what a failing disk does.
  init(
    _ layout: CacheLayout,
    _ index: Index,
    isAlone: Bool = false,
    read: @escaping PictureReading
  ) {
    self.layout = layout
    self.index = index
    self.read = read
    judge = PictureJudge(layout, read: read)
    review = SuspectReview(layout, isAlone: isAlone)
  }

  /// Looks at every picture, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: how closely.
  ///   - progress: called now and then, on any thread, with how many of how many are done.
  /// - Returns: What is damaged, missing or orphaned.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Depth,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(CacheError) -> VerifyReport {
    try run(depth, from: VerifyPosition(isFull: depth == .full), isStopped: { false }) {
      progress($0.checked, $1)
    }
  }

  /// Looks at every picture behind a position, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: how closely.
  ///   - start: where to begin; what was found before it is looked at again, in case it was mended.
  ///   - isStopped: asked now and then, on any thread, whether to end early.
  ///   - progress: called after each pass with the position and how many there are in all.
  /// - Returns: What is damaged, missing or orphaned; not complete when it was stopped.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Depth,
    from start: VerifyPosition,
    isStopped: @Sendable () -> Bool,
    progress: (VerifyPosition, Int) -> Void
  ) throws(CacheError) -> VerifyReport {
    if let listing = layout.listing {
      return try KeptVerification(layout, listing, index, review)
        .run(depth, from: start, isStopped: isStopped, progress: progress)
    }
    let ids = try index.heldPictures()
    var position = VerifyPosition(after: start, isFull: depth == .full, among: ids)
    var suspects = try index.heldPictures(at: start.damaged + start.missing)
    var rest = ids.dropFirst(position.checked)
    while !rest.isEmpty {
      let pass = Array(rest.prefix(Self.pass))
      guard let found = try look(at: pass, depth, isStopped: isStopped) else { break }
      for (entry, verdict) in found where verdict != .good {
        suspects[entry.name.path] = entry.id
        position.note(verdict, at: entry.name.path)
      }
      position.pass(pass)
      rest = rest.dropFirst(pass.count)
      progress(position, ids.count)
    }
    let paths = Set(position.damaged + position.missing)
      .union(try PictureFiles(layout).orphans(index))
    var report = try review.settled(paths) { paths throws(CacheError) in
      try lookAgain(at: paths, suspects, depth)
    }
    report.checked = position.checked
    report.isComplete = rest.isEmpty
    report.unchecked = rest.count
    guard report.isComplete else { return report }
    let squares = SquareVerification(layout, index)
    let first = try squares.run(depth).report
    report.add(
      try review.settled(first.paths) { paths throws(CacheError) in
        try squares.look(at: paths, depth)
      }
    )
    report.checked += first.checked
    return report
  }

  /// Looks at these pictures, in parallel, and says what it came to of each that is held still; nil when it was
  /// stopped.
  private func look(
    at ids: [PictureID],
    _ depth: Depth,
    isStopped: @Sendable () -> Bool
  ) throws(CacheError) -> [(PictureEntry, FileVerdict)]? {
    var held: [PictureEntry] = []
    try index.forEachPicture(of: ids) { if $0.isHeld { held.append($0) } }
    let entries = held
    let verdicts = Mutex([FileVerdict?](repeating: nil, count: entries.count))
    DispatchQueue.concurrentPerform(iterations: (entries.count + 15) / 16) { block in
      for place in (block * 16)..<min(block * 16 + 16, entries.count) {
        guard !isStopped() else { return }
        let verdict = judge.verdict(entries[place], depth)
        verdicts.withLock { $0[place] = verdict }
      }
    }
    let found = verdicts.withLock { $0.compactMap(\.self) }
    return found.count == entries.count ? Array(zip(entries, found)) : nil
  }

  /// Looks again at pictures, and at files that seemed to be nobody's.
  ///
  /// - Parameters:
  ///   - paths: the files.
  ///   - ids: whose file each is, of those that had a row.
  ///   - depth: how closely.
  /// - Returns: What seems wrong now.
  /// - Throws: ``CacheError`` when the index or a folder cannot be read.
  private func lookAgain(
    at paths: Set<String>,
    _ ids: [String: PictureID],
    _ depth: Depth
  ) throws(CacheError) -> SuspectReview.Look {
    var found = SuspectReview.Look()
    let pictures = paths.compactMap { ids[$0] }
    let before = try index.pictures(pictures)
    var verdicts: [PictureID: FileVerdict] = [:]
    for (id, entry) in before where entry.isHeld { verdicts[id] = judge.verdict(entry, depth) }
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
    let nobodys = paths.filter { ids[$0] == nil }.sorted()
    let known = try index.heldPictures(at: nobodys)
    for path in nobodys where known[path] == nil && layout.kind(of: path) != nil {
      found.report.orphans.append(path)
      if PictureName.mayName(path) { found.underWay.insert(path) }
    }
    return found
  }

  /// Repairs what ``run(_:progress:)`` found, so that the next sync fetches what is missing.
  ///
  /// Damaged and missing pictures are forgotten, damaged files removed. What cannot be read stays as it
  /// is, with its row. An orphan that is a picture and has the name of a URL in `urls` is adopted; the
  /// other orphans are removed. The caller holds the cache's lock.
  ///
  /// While the index is being made anew, orphans that no URL claims stay: their catalogs may still come.
  package func repair(_ report: VerifyReport, urls: [String]) throws(CacheError) {
    try SquareVerification(layout, index).repair(report)
    let lost = try index.heldPictures(at: report.damaged + report.missing).values
    try index.write { db in for id in lost { try Index.forget(id, in: db) } }
    for path in report.damaged { try layout.remove(path) }
    let unclaimed = try Recovery(layout, index, read: read).orphans
    for identity in urls {
      let id = PictureID(url: identity)
      // What a catalog names is an identity; a row knows where to ask.
      let url = try index.pictureURLs([id])[id] ?? identity
      _ = try unclaimed.adopt(id, url: url, identity: identity)
    }
    guard try index.lostSince() == nil else { return }
    try unclaimed.sweep()
    let found = Set(report.orphans)
    for path in try PictureFiles(layout).orphans(index) where found.contains(path) {
      try layout.remove(path)
    }
    try index.noteFolderTimes(of: layout)
  }

  /// The files of a cache that no held row names, sorted.
  package static func orphans(
    of layout: CacheLayout,
    _ index: Index
  ) throws(CacheError) -> [String] {
    try PictureFiles(layout).orphans(index)
  }

  /// Every file below `images/`, sorted.
  package static func files(of layout: CacheLayout) throws(CacheError) -> [String] {
    try PictureFiles(layout).all()
  }
}
