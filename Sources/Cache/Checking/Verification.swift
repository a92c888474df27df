import Base
import Dispatch
import Synchronization

/// Checks every file of a cache against its row, for `larder verify`.
///
/// A sync may run at the same time, so a suspicious file is checked again with a newly read row until the result is
/// stable. While a run holds the cache's lock, a file that is newer than its row belongs to that run, and is not
/// damage.
///
/// A check needs 16 bytes of memory for each picture, and memory for the findings.
package struct Verification: Sendable {
  /// The depth of a check.
  package enum Depth: Sendable {
    /// Compare the size.
    case fast
    /// Read the file and compare its SHA-256.
    case full
  }

  /// The number of pictures in a pass; between passes the check can be interrupted and its position saved.
  private static let pass = 256

  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let review: SuspectReview

  /// Makes a check of the cache with these folders and this index.
  ///
  /// - Parameters:
  ///   - layout: The cache's folders.
  ///   - index: The cache's index.
  ///   - isLocked: Whether the caller holds the cache's lock, so that no other process changes the cache.
  ///   - read: Reads and hashes the file of a picture; nil for the normal function. Tests pass one that fails.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    isLocked: Bool = false,
    read: PictureReading? = nil
  ) {
    self.layout = layout
    self.index = index
    self.read = read ?? layout.digest
    review = SuspectReview(layout, isLocked: isLocked)
  }

  /// Checks every picture after a position, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: Whether to compare sizes or to read every byte.
  ///   - start: The position to begin at; nil to check all pictures. The findings in the position are checked again,
  ///     because they may have been repaired.
  ///   - isStopped: Called often, on any thread; returns whether to end early.
  ///   - progress: Called after every few hundred pictures, with the position and the total number of pictures.
  /// - Returns: The damaged, missing and stray files. The report is incomplete if `isStopped` ended the check early.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Depth,
    from start: VerifyPosition? = nil,
    isStopped: @Sendable () -> Bool = { false },
    progress: (VerifyPosition, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> VerifyReport {
    let remote: RemoteVerification?
    if let listing = layout.listing {
      remote = try RemoteVerification(listing, index)
    } else {
      remote = nil
    }
    let start = start ?? VerifyPosition(isFull: depth == .full)
    let ids = try index.heldPictures()
    var position = VerifyPosition(after: start, isFull: depth == .full, among: ids)
    var suspects = try index.heldPictures(at: start.damaged + start.missing)
    var rest = ids.dropFirst(position.checked)
    while !rest.isEmpty {
      let pass = Array(rest.prefix(Self.pass))
      guard let found = try look(at: pass, depth, remote, isStopped: isStopped) else { break }
      for (entry, verdict) in found where verdict != .good {
        suspects[entry.name.path] = entry.id
        position.note(verdict, at: entry.name.path)
      }
      position.pass(pass)
      rest = rest.dropFirst(pass.count)
      progress(position, ids.count)
    }
    let paths = Set(position.damaged + position.missing)
      .union(try layout.strays(index))
    var report = try review.stableReport(paths) { paths throws(LarderError) in
      if let remote { return try remote.lookAgain(at: paths, depth) }
      return try lookAgain(at: paths, suspects, depth)
    }
    report.checked = position.checked
    report.isComplete = rest.isEmpty
    report.unchecked = rest.count
    guard report.isComplete, remote == nil else { return report }
    let squares = SquareVerification(layout, index)
    let first = try squares.run(depth).report
    report.add(
      try review.stableReport(first.paths) { paths throws(LarderError) in
        try squares.look(at: paths, depth)
      }
    )
    report.checked += first.checked
    return report
  }

  /// Checks these pictures in parallel and returns a result for each that is still held; nil if the check was stopped.
  private func look(
    at ids: [PictureID],
    _ depth: Depth,
    _ remote: RemoteVerification?,
    isStopped: @Sendable () -> Bool
  ) throws(LarderError) -> [(PictureEntry, CheckedFile)]? {
    var held: [PictureEntry] = []
    try index.forEachPicture(of: ids) { if $0.isHeld { held.append($0) } }
    let entries = held
    if let remote {
      let found = remote.verdicts(entries, depth, isStopped: isStopped)
      return found.count == entries.count ? Array(zip(entries, found)) : nil
    }
    let verdicts = Mutex([CheckedFile?](repeating: nil, count: entries.count))
    DispatchQueue.concurrentPerform(iterations: (entries.count + 15) / 16) { block in
      for place in (block * 16)..<min(block * 16 + 16, entries.count) {
        guard !isStopped() else { return }
        let verdict = verdict(entries[place], depth)
        verdicts.withLock { $0[place] = verdict }
      }
    }
    let found = verdicts.withLock { $0.compactMap(\.self) }
    return found.count == entries.count ? Array(zip(entries, found)) : nil
  }

  /// Checks pictures and apparent strays again.
  ///
  /// - Parameters:
  ///   - paths: The paths of the files.
  ///   - ids: The picture of each path that had a row.
  ///   - depth: Whether to compare sizes or to read every byte.
  /// - Returns: The present findings.
  /// - Throws: ``LarderError`` when the index or a folder cannot be read.
  private func lookAgain(
    at paths: Set<String>,
    _ ids: [String: PictureID],
    _ depth: Depth
  ) throws(LarderError) -> SuspectReview.Look {
    var found = SuspectReview.Look()
    let pictures = paths.compactMap { ids[$0] }
    let before = try index.pictures(pictures)
    var verdicts: [PictureID: CheckedFile] = [:]
    for (id, entry) in before where entry.isHeld { verdicts[id] = verdict(entry, depth) }
    let after = try index.pictures(pictures)
    for path in paths.sorted() {
      guard let id = ids[path], let verdict = verdicts[id] else { continue }
      guard let entry = after[id], entry.sha256 == before[id]?.sha256,
        entry.stamp == before[id]?.stamp
      else {
        found.unstable.insert(path)
        continue
      }
      found.report.add(path, verdict)
      if verdict == .damaged(isNewer: true) { found.underWay.insert(path) }
    }
    let nobodys = paths.filter { ids[$0] == nil }.sorted()
    let known = try index.heldPictures(at: nobodys)
    for path in nobodys where known[path] == nil && layout.kind(of: path) != nil {
      found.report.strays.append(path)
      if PictureName.isPicturePath(path) { found.underWay.insert(path) }
    }
    return found
  }

  /// Repairs the findings of ``run(_:from:isStopped:progress:)``, so that the next sync fetches the missing pictures.
  ///
  /// The rows of damaged and missing pictures are deleted, and damaged files are removed. An unreadable file stays,
  /// with its row. A stray file that belongs to a picture in `urls` gets a row; other strays are removed. The caller
  /// holds the cache's lock.
  ///
  /// After a lost index was rebuilt, the other strays stay until all pictures have a row again, because a later sync
  /// may refer to them.
  package func repair(_ report: VerifyReport, urls: [String]) throws(LarderError) {
    try SquareVerification(layout, index).repair(report)
    let lost = try index.heldPictures(at: report.damaged + report.missing).values
    try index.write { db in for id in lost { try Index.forget(id, in: db) } }
    for path in report.damaged { try layout.remove(path) }
    let unclaimed = try Recovery(layout, index, read: read).strays
    for identity in urls {
      let id = PictureID(url: identity)
      // `urls` has the texts by which catalogs identify pictures. The URL to request may differ, and is in the row.
      let url = try index.pictureURLs([id])[id] ?? identity
      _ = try unclaimed.adopt(id, url: url, identity: identity)
    }
    guard try index.lostSince() == nil else { return }
    try unclaimed.sweep()
    let found = Set(report.strays)
    for path in try layout.strays(index) where found.contains(path) {
      try layout.remove(path)
    }
    try index.noteFolderTimes(of: layout)
  }
}

/// The result of checking every file against its row; `Shop.verify` and `Shop.repair` return it.
///
/// Paths are relative to the cache and sorted.
public struct VerifyReport: Sendable, Hashable {
  /// The number of checked pictures and squares.
  public package(set) var checked = 0
  /// Files whose bytes differ from the committed bytes.
  public package(set) var damaged: [String] = []
  /// The paths of rows whose file is gone.
  public package(set) var missing: [String] = []
  /// Files to which no row refers.
  public package(set) var strays: [String] = []
  /// Files that could not be read because of a system error; they may be whole.
  public package(set) var unreadable: [String] = []
  /// The state of the index itself.
  package var index = IndexState.whole
  /// Whether all pictures were checked; false when the check was stopped early.
  public package(set) var isComplete = true
  /// The number of pictures that a stopped check left out.
  package var unchecked = 0

  /// The state of an index; the raw values are stable.
  package enum IndexState: String, Sendable {
    /// The index is whole.
    case whole
    /// There is no index, although there are pictures.
    case missing
    /// SQLite reports damage.
    case damaged
  }

  /// Whether all pictures were checked, and nothing is wrong.
  public var isClean: Bool {
    damaged.isEmpty && missing.isEmpty && strays.isEmpty && unreadable.isEmpty && index == .whole
      && isComplete
  }

  /// A report that found nothing.
  package init() {}

  /// The paths of all damaged, missing, stray and unreadable files.
  var paths: Set<String> { Set(damaged + missing + strays + unreadable) }

  /// Adds the findings of another part of the check; paths stay sorted.
  mutating func add(_ other: VerifyReport) {
    checked += other.checked
    damaged = (damaged + other.damaged).sorted()
    missing = (missing + other.missing).sorted()
    strays = (strays + other.strays).sorted()
    unreadable = (unreadable + other.unreadable).sorted()
  }

  /// Adds the result of one file.
  mutating func add(_ path: String, _ verdict: CheckedFile) {
    switch verdict {
    case .good: break
    case .damaged: damaged.append(path)
    case .missing: missing.append(path)
    case .unreadable: unreadable.append(path)
    }
  }

  /// Removes these files from the findings.
  mutating func remove(_ paths: Set<String>) {
    damaged.removeAll(where: paths.contains)
    missing.removeAll(where: paths.contains)
    strays.removeAll(where: paths.contains)
  }
}

extension VerifyReport: Encodable {
  private enum Key: String, CodingKey {
    case checked, damaged, missing, stray, unreadable, index, complete, clean
  }

  /// Writes the report as `verify --json` prints it.
  public func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(checked, forKey: .checked)
    try body.encode(damaged, forKey: .damaged)
    try body.encode(missing, forKey: .missing)
    try body.encode(strays, forKey: .stray)
    try body.encode(unreadable, forKey: .unreadable)
    try body.encode(index.rawValue, forKey: .index)
    try body.encode(isComplete, forKey: .complete)
    try body.encode(isClean, forKey: .clean)
  }
}

/// The position of a check, saved so that an interrupted one can resume.
package struct VerifyPosition: Sendable, Equatable, Codable {
  /// Whether the files are read in full.
  package var isFull: Bool
  /// The last checked picture, in the order of ids; nil at the beginning.
  package var last: PictureID?
  /// The number of checked pictures.
  package var checked = 0
  /// Files whose bytes differ from the committed bytes.
  package var damaged: [String] = []
  /// The paths of rows whose file is gone.
  package var missing: [String] = []

  /// The beginning of a check.
  package init(isFull: Bool) {
    self.isFull = isFull
  }

  /// A check that continues an interrupted check.
  ///
  /// The files with earlier findings are checked again, after the remaining pictures.
  ///
  /// - Parameters:
  ///   - earlier: The position of the interrupted check.
  ///   - isFull: Whether files are read in full from now on.
  ///   - ids: The pictures that are held now, sorted by id.
  init(after earlier: VerifyPosition, isFull: Bool, among ids: [PictureID]) {
    self = earlier
    self.isFull = isFull
    checked = last.map { last in ids.prefix { $0 <= last }.count } ?? 0
  }

  /// Records the finding about a picture.
  mutating func note(_ verdict: CheckedFile, at path: String) {
    switch verdict {
    case .good: break
    case .missing: missing.append(path)
    case .damaged, .unreadable: damaged.append(path)
    }
  }

  /// Moves past pictures that were checked.
  mutating func pass(_ ids: [PictureID]) {
    checked += ids.count
    last = ids.last ?? last
  }
}

/// Checks suspicious files again, until the result is stable.
///
/// A single check is not enough. If a sync runs between the reading of rows and the reading of files, every file that
/// it replaced looks damaged.
struct SuspectReview {
  /// The result of one check of some files.
  struct Look {
    /// The findings.
    var report = VerifyReport()
    /// The files in `report` that a run may have just renamed into place, before their rows were committed.
    var underWay: Set<String> = []
    /// Files whose row changed during the check.
    var unstable: Set<String> = []
  }

  /// Files whose rows keep changing are checked at most this many times.
  private static let mostLooks = 8

  private let layout: CacheLayout
  private let isLocked: Bool

  /// - Parameters:
  ///   - layout: The cache.
  ///   - isLocked: Whether the caller holds the cache's lock, so that no other process changes it.
  init(_ layout: CacheLayout, isLocked: Bool) {
    self.layout = layout
    self.isLocked = isLocked
  }

  /// Repeats the check of the files that still seem wrong, until two checks in a row have the same result.
  ///
  /// While a run holds the cache's lock, files that the run may have just renamed into place are left out.
  func stableReport(
    _ paths: Set<String>,
    _ look: (Set<String>) throws(LarderError) -> Look
  ) throws(LarderError) -> VerifyReport {
    var (paths, last) = (paths, VerifyReport?.none)
    for _ in 0..<Self.mostLooks where !paths.isEmpty {
      let wasAtWork = try isRunAtWork()
      var found = try look(paths)
      let isAtWork = try isRunAtWork()
      if wasAtWork || isAtWork { found.report.remove(found.underWay) }
      if found.report == last, found.unstable.isEmpty { break }
      paths = found.report.paths.union(found.unstable)
      last = found.report
    }
    return last ?? VerifyReport()
  }

  private func isRunAtWork() throws(LarderError) -> Bool {
    if isLocked { return false }
    return try CacheLock.isHeld(layout)
  }
}

/// The result of checking one file of the cache.
enum CheckedFile: Equatable {
  case good
  /// The bytes differ from the row. `isNewer` means that the file was renamed into place after its row was written, as
  /// its inode shows: each commit uses a new inode.
  case damaged(isNewer: Bool)
  case missing
  /// A system error prevented the check.
  case unreadable
}

extension Verification {
  /// Checks the file of a row.
  ///
  /// If ``Index/takeOver(_:on:)`` was interrupted, some files are renamed, but their rows have the older path. So a
  /// missing file is also sought under its new name.
  private func verdict(_ entry: PictureEntry, _ depth: Depth) -> CheckedFile {
    let verdict = look(at: entry, depth)
    guard verdict == .missing, entry.older != nil else { return verdict }
    var renamed = entry
    renamed.older = nil
    return look(at: renamed, depth)
  }

  private func look(at entry: PictureEntry, _ depth: Depth) -> CheckedFile {
    do throws(LarderError) {
      switch depth {
      case .fast:
        let folder = try layout.existingFolder(entry.name.folder)
        guard let stamp = try folder?.find(entry.name.file) else { return try absence(entry) }
        return stamp.bytes == entry.bytes ? .good : .damaged(isNewer: isNewer(stamp, entry.stamp))
      case .full:
        guard let file = try read(entry.name) else { return try absence(entry) }
        return file.sha256 == entry.sha256
          ? .good : .damaged(isNewer: isNewer(file.stamp, entry.stamp))
      }
    } catch {
      return .unreadable
    }
  }

  /// Whether the file was renamed into place after its row was written.
  private func isNewer(_ file: FileStamp, _ row: FileStamp?) -> Bool {
    file.inode != row?.inode
  }

  /// The verdict on a picture without a regular file: missing, or damaged when there is a link or pipe at its path.
  private func absence(_ entry: PictureEntry) throws(LarderError) -> CheckedFile {
    try layout.existingFolder(entry.name.folder)?.findKind(entry.name.file) == nil
      ? .missing : .damaged(isNewer: false)
  }
}

extension CacheLayout {
  /// The paths of all files in the picture folders, sorted.
  package func pictureFiles() throws(LarderError) -> [String] {
    if let listing { return try listing.objects().keys.sorted() }
    var files: [String] = []
    for number in try existingFolders() {
      let folder = try folder(number, creating: false)
      files += try folder.names().map { "images/\(PictureName.folderName(number))/\($0)" }
    }
    return files.sorted()
  }

  /// The files without a row in this index, sorted.
  ///
  /// Reads a folder at a time, so that only a 256th of the names are in memory. A folder's rows are read after its file
  /// names, so that rows which a running sync commits meanwhile are included.
  package func strays(_ index: Index) throws(LarderError) -> [String] {
    if let remote {
      let all = try pictureFiles()
      let known = try index.heldPictures(at: all)
      let others = all.filter { known[$0] == nil }
      // An object with a row in its metadata is no stray: the next run writes that row to the index.
      let rows = try remote.rows(at: others)
      return others.filter { path in !(rows[path]?.isRow(at: path) ?? false) }
    }
    var files: [String] = []
    for name in try images.names() {
      guard let number = pictureFolder(name), let folder = try existingFolder(number)
      else {
        files.append("images/\(name)")
        continue
      }
      var names = Set(try folder.names())
      guard !names.isEmpty else { continue }
      try index.forEachHeldFile(inFolder: number) { names.remove($0) }
      files += names.map { "images/\(name)/\($0)" }
    }
    return files.sorted()
  }
}
