import Base
import Dispatch
import Glibc
import Synchronization

/// Compares every picture file of a cache with its row in the index, for `larder verify`.
///
/// A sync may run at the same time. So a file that seems wrong is checked again with a newly read row, until two
/// checks have the same result. While a run holds the cache's lock, a file that is newer than its row belongs to that
/// run and is not damaged.
///
/// A check needs memory for its findings, but not for each picture.
package struct Verification: Sendable {
  package enum Depth: Sendable {
    /// Compare the size of each file with its row.
    case fast
    /// Read each file and compare its SHA-256 with its row.
    case full
  }

  /// The number of pictures that are checked in one pass.
  private static let pass = 256

  /// The number of pictures of a store that are read at the same time.
  ///
  /// Reading waits for the network, so they are more than the processors.
  private static let readers = 16

  private let layout: CacheLayout
  private let index: Index
  private let read: PictureReading
  private let isLocked: Bool

  /// Prepares a check.
  ///
  /// - Parameters:
  ///   - layout: The cache's folders.
  ///   - index: The cache's index.
  ///   - isLocked: Whether the caller holds the cache's lock, so that no other process changes the cache.
  ///   - read: Reads and hashes the file of a picture. Pass nil to use the normal function; tests pass a function
  ///     that fails.
  package init(
    _ layout: CacheLayout,
    _ index: Index,
    isLocked: Bool = false,
    read: PictureReading? = nil
  ) {
    self.layout = layout
    self.index = index
    self.read = read ?? layout.digest
    self.isLocked = isLocked
  }

  /// Checks every picture, with as many threads as there are processors.
  ///
  /// - Parameters:
  ///   - depth: Whether to compare sizes or to read every byte.
  ///   - isStopped: Returns whether to end early. It is called often, on any thread.
  ///   - progress: Called after each pass, with the number of checked pictures and their total number.
  /// - Returns: The damaged, missing and stray files. The report is incomplete if `isStopped` ended the check early.
  /// - Throws: ``LarderError`` when a folder or the index cannot be read.
  package func run(
    _ depth: Depth,
    isStopped: @Sendable () -> Bool = { false },
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws(LarderError) -> VerifyReport {
    // A store is asked for its list before any picture is judged by it.
    _ = try layout.listing?.objects()
    let count = try index.heldCount()
    var (checked, last, isComplete) = (0, PictureID?.none, false)
    var paths: Set<String> = []
    while true {
      let pass = try index.pictures(after: last, count: Self.pass, onlyHeld: true)
      isComplete = pass.isEmpty
      guard !isComplete, let found = look(at: pass, depth, isStopped: isStopped)
      else { break }
      for (entry, verdict) in found where verdict != .good { paths.insert(entry.name.path) }
      checked += pass.count
      last = pass.last?.id
      progress(checked, max(count, checked))
    }
    paths.formUnion(try layout.strays(index))
    var report = try stableReport(paths) { paths throws(LarderError) in
      try lookAgain(at: paths, depth)
    }
    report.checked = checked
    report.isComplete = isComplete
    report.unchecked = isComplete ? 0 : max(0, count - checked)
    guard report.isComplete, layout.remote == nil else { return report }
    let squares = SquareVerification(layout: layout, index: index)
    let first = try squares.look(depth).report
    var stable = try stableReport(first.paths) { _ throws(LarderError) in
      try squares.look(depth)
    }
    stable.checked = first.checked
    report.add(stable)
    return report
  }

  /// Checks these pictures in parallel.
  ///
  /// - Parameters:
  ///   - entries: The rows of the pictures.
  ///   - depth: Whether to compare sizes or to read every byte.
  ///   - rows: The rows from the metadata of a store, by path; nil to use its list of objects, or files.
  ///   - isStopped: Returns whether to end early.
  /// - Returns: The result for each picture; nil if the check was stopped.
  private func look(
    at entries: [PictureEntry],
    _ depth: Depth,
    rows: [String: PictureEntry]? = nil,
    isStopped: @Sendable () -> Bool
  ) -> [(PictureEntry, CheckedFile)]? {
    let verdicts = Mutex([CheckedFile?](repeating: nil, count: entries.count))
    let next = Atomic<Int>(0)
    let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let threads = layout.remote == nil ? processors : depth == .full ? Self.readers : 1
    withoutActuallyEscaping(isStopped) { isStopped in
      let group = DispatchGroup()
      for number in 0..<threads {
        DispatchQueue(label: "larder.verify-\(number)").async(group: group) {
          while !isStopped() {
            let place = next.add(1, ordering: .relaxed).oldValue
            guard place < entries.count else { return }
            let verdict = verdict(entries[place], depth, rows)
            verdicts.withLock { $0[place] = verdict }
          }
        }
      }
      group.wait()
    }
    let found = verdicts.withLock { $0.compactMap(\.self) }
    return found.count == entries.count ? Array(zip(entries, found)) : nil
  }

  /// Checks files again that seemed wrong: pictures, and strays, which are files without a row.
  ///
  /// - Parameters:
  ///   - paths: The paths of the files to check.
  ///   - depth: Whether to compare sizes or to read every byte.
  /// - Returns: The findings of this check.
  /// - Throws: ``LarderError`` when the index, a folder or the store cannot be read.
  private func lookAgain(
    at paths: Set<String>,
    _ depth: Depth
  ) throws(LarderError) -> SuspectFiles {
    var found = SuspectFiles()
    let stored = try layout.remote?.rows(at: paths.sorted())
    let ids = try index.heldPictures(at: paths)
    let before = try index.pictures(Array(ids.values)).values.filter(\.isHeld)
    var verdicts: [PictureID: (row: PictureEntry, file: CheckedFile)] = [:]
    for (entry, file) in look(at: before, depth, rows: stored, isStopped: { false }) ?? [] {
      verdicts[entry.id] = (entry, file)
    }
    let after = try index.pictures(before.map(\.id))
    for path in paths.sorted() {
      if let id = ids[path], let (row, verdict) = verdicts[id] {
        guard let now = after[id], now.sha256 == row.sha256, now.stamp == row.stamp else {
          found.unstable.insert(path)
          continue
        }
        found.report.add(path, verdict)
        if verdict == .damaged(isNewer: true) { found.underWay.insert(path) }
      } else if ids[path] == nil, isThere(path, stored) {
        found.report.strays.append(path)
        if PictureName.id(at: path) != nil { found.underWay.insert(path) }
      }
    }
    return found
  }

  /// Whether there is a file at a path, or an object of another program if a store has the pictures.
  private func isThere(_ path: String, _ stored: [String: PictureEntry]?) -> Bool {
    guard let stored else { return layout.kind(of: path) != nil }
    return stored[path].map { !$0.isRow(at: path) } ?? false
  }

  /// Repairs the findings of ``run(_:isStopped:progress:)``, so that the next sync fetches the missing pictures.
  ///
  /// The rows of damaged and missing pictures are marked as empty, and damaged files are removed. A file that could
  /// not be read stays, and so does its row. A stray file that belongs to a picture in `claimed` gets a row, and the
  /// other strays are removed. The caller holds the cache's lock.
  ///
  /// If the index was lost and rebuilt, the other strays stay until all pictures have a row again, because a later
  /// sync may refer to them.
  package func repair(_ report: VerifyReport, claimed: [PictureEntry]) throws(LarderError) {
    let lost = try index.heldPictures(at: report.damaged + report.missing).values
    try index.write { db in for id in lost { try Index.forget(id, in: db) } }
    for path in report.damaged { try layout.remove(path) }
    try SquareVerification(layout: layout, index: index).repair(report)
    let unclaimed = try Recovery(layout, index, read: read).strays
    for picture in claimed {
      _ = try unclaimed.adopt(picture.id, url: picture.url, identity: picture.identity)
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

/// The findings of a check of the cache's files, which `Shop.verify` and `Shop.repair` return.
///
/// Paths are relative to the cache, such as `images/3f/….jpg`, and sorted.
public struct VerifyReport: Sendable, Hashable {
  /// The number of checked pictures and squares.
  public package(set) var checked = 0
  /// Files whose bytes differ from the bytes that were stored.
  public package(set) var damaged: [String] = []
  /// Files that are in the index, but not in the cache.
  public package(set) var missing: [String] = []
  /// Files that are in the cache, but not in the index.
  public package(set) var strays: [String] = []
  /// Files that could not be read because of a system error; they may still be whole.
  public package(set) var unreadable: [String] = []
  /// The error of the first file in ``unreadable``.
  package var cause: LarderError?
  /// The state of the index itself.
  package var index = IndexState.whole
  /// Whether all pictures were checked; false if the check was stopped early.
  public package(set) var isComplete = true
  /// The number of pictures that were not checked, because the check was stopped.
  package var unchecked = 0

  /// The state of an index.
  ///
  /// The raw values are printed by `verify --json` and never change.
  package enum IndexState: String, Sendable {
    /// The index is whole.
    case whole
    /// There is no index, although there are pictures.
    case missing
    /// SQLite reports damage.
    case damaged
  }

  /// Whether all pictures were checked and nothing was found to be wrong.
  public var isClean: Bool {
    damaged.isEmpty && missing.isEmpty && strays.isEmpty && unreadable.isEmpty && index == .whole
      && isComplete
  }

  /// Makes a report without findings.
  package init() {}

  /// The paths of all damaged, missing, stray and unreadable files.
  var paths: Set<String> { Set(damaged + missing + strays + unreadable) }

  /// Adds the findings of another part of the check, and keeps the paths sorted.
  mutating func add(_ other: VerifyReport) {
    checked += other.checked
    damaged = (damaged + other.damaged).sorted()
    missing = (missing + other.missing).sorted()
    strays = (strays + other.strays).sorted()
    unreadable = (unreadable + other.unreadable).sorted()
    cause = cause ?? other.cause
  }

  /// Adds the result of checking one file.
  mutating func add(_ path: String, _ verdict: CheckedFile) {
    switch verdict {
    case .good: break
    case .damaged: damaged.append(path)
    case .missing: missing.append(path)
    case .unreadable(let error):
      unreadable.append(path)
      cause = cause ?? error
    }
  }

  /// Removes these files from the findings, except from ``unreadable``.
  mutating func remove(_ paths: Set<String>) {
    damaged.removeAll(where: paths.contains)
    missing.removeAll(where: paths.contains)
    strays.removeAll(where: paths.contains)
  }
}

extension VerifyReport: Encodable {
  /// Encodes the report as the JSON object that `verify --json` prints.
  public func encode(to encoder: any Encoder) throws {
    try encoder.write([
      "checked": checked, "damaged": damaged, "missing": missing, "stray": strays,
      "unreadable": unreadable, "index": index.rawValue, "complete": isComplete, "clean": isClean,
    ])
  }
}

/// The result of one check of files that seem wrong.
struct SuspectFiles {
  var report = VerifyReport()
  /// The files in `report` whose rows are perhaps not written yet, because a run has only just renamed them into
  /// place.
  var underWay: Set<String> = []
  /// The files whose rows changed during the check.
  var unstable: Set<String> = []
}

extension Verification {
  /// The maximum number of checks of a file whose row keeps changing.
  private static let mostLooks = 8

  /// Checks files repeatedly, until two checks in a row have the same result.
  ///
  /// A single check is not enough. If a sync replaces files after the check read their rows, all these files look
  /// damaged. After each check, only the files that still seem wrong are checked again. While a run holds the cache's lock,
  /// files that the run may have renamed into place are not reported.
  private func stableReport(
    _ paths: Set<String>,
    _ look: (Set<String>) throws(LarderError) -> SuspectFiles
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

enum CheckedFile: Equatable {
  case good
  /// The bytes differ from the row.
  ///
  /// `isNewer` is true if the file was renamed into place after its row was written. In that case its inode differs
  /// from the row, because each commit uses a new inode.
  case damaged(isNewer: Bool)
  case missing
  /// The file could not be read, because of an error of the system or of the object store.
  case unreadable(LarderError)
}

extension Verification {
  /// Compares the file of one picture with the picture's row.
  ///
  /// If ``Index/takeOver(_:on:)`` was interrupted, some files have their new names, but their rows still have the
  /// older paths. So if a file is missing, it is also looked for under its new name.
  private func verdict(
    _ entry: PictureEntry,
    _ depth: Depth,
    _ rows: [String: PictureEntry]?
  ) -> CheckedFile {
    let verdict = look(at: entry, depth, rows)
    guard verdict == .missing, entry.older != nil else { return verdict }
    var renamed = entry
    renamed.older = nil
    return look(at: renamed, depth, rows)
  }

  /// Compares a file, or an object of a store, with a row.
  ///
  /// If another machine has replaced the object, it is compared with the metadata of the new upload. A file that was
  /// renamed into place after its row was written has another inode.
  private func look(
    at entry: PictureEntry,
    _ depth: Depth,
    _ rows: [String: PictureEntry]?
  ) -> CheckedFile {
    do throws(LarderError) {
      let there = rows?[entry.name.path]
      let found = try rows == nil ? layout.find(entry.name) : there?.stamp
      guard let stamp = found else { return try absence(entry) }
      let present = stamp == entry.stamp ? entry : there?.row(of: entry)
      switch depth {
      case .fast:
        let isGood = layout.remote == nil ? stamp.bytes == entry.bytes : present != nil
        return isGood ? .good : .damaged(isNewer: stamp.inode != entry.stamp?.inode)
      case .full:
        guard let file = try read(entry.name) else { return try absence(entry) }
        return file.sha256 == (present ?? entry).sha256
          ? .good : .damaged(isNewer: file.stamp.inode != entry.stamp?.inode)
      }
    } catch {
      return .unreadable(error)
    }
  }

  /// The result for a picture that has no regular file: damaged if there is a link or a pipe at its path, missing if
  /// there is nothing.
  private func absence(_ entry: PictureEntry) throws(LarderError) -> CheckedFile {
    guard layout.listing == nil else { return .missing }
    return try layout.existingFolder(entry.name.folder)?.findKind(entry.name.file) == nil
      ? .missing : .damaged(isNewer: false)
  }
}

extension CacheLayout {
  /// The paths of all files in the picture folders, sorted.
  package func pictureFiles() throws(LarderError) -> [String] {
    if let listing { return try listing.objects().keys.sorted() }
    var files: [String] = []
    for number in try images.names().compactMap(pictureFolder) {
      let folder = try folder(number, creating: false)
      files += try folder.names().map { "images/\(PictureName.folderName(number))/\($0)" }
    }
    return files.sorted()
  }

  /// The paths of the files below `images/` that have no row in the index, sorted.
  ///
  /// Only the names of one of the 256 folders are in memory at a time. The rows of a folder are read after its file
  /// names, so that they include the rows which a running sync commits meanwhile.
  package func strays(_ index: Index) throws(LarderError) -> [String] {
    if let remote {
      let all = try pictureFiles()
      let known = try index.heldPictures(at: all)
      let others = all.filter { known[$0] == nil }
      // If the metadata of an object contains its row, it is no stray, because the next run writes that row to the
      // index.
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
      let paths = try folder.names().map { "images/\(name)/\($0)" }
      let known = try index.heldPictures(at: paths)
      files += paths.filter { known[$0] == nil }
    }
    return files.sorted()
  }
}
