import Base
import Crypto
import Dispatch
import Synchronization

/// Checks every picture in an object store against its row.
///
/// A picture that another machine has replaced is compared with the metadata of the new upload.
struct RemoteVerification {
  /// The number of pictures to read at the same time.
  private static let readers = 16
  /// The number of pictures in a pass; between passes the check can be interrupted and its position saved.
  private static let pass = 256

  private let layout: CacheLayout
  private let listing: RemoteListing
  private let index: Index
  private let review: SuspectReview

  init(
    _ layout: CacheLayout,
    _ listing: RemoteListing,
    _ index: Index,
    _ review: SuspectReview
  ) {
    (self.layout, self.listing, self.index, self.review) = (layout, listing, index, review)
  }

  /// Checks every picture after a position; see ``Verification/run(_:from:isStopped:progress:)``.
  func run(
    _ depth: Verification.Depth,
    from start: VerifyPosition,
    isStopped: @Sendable () -> Bool,
    progress: (VerifyPosition, Int) -> Void
  ) throws(LarderError) -> VerifyReport {
    let kept = try listing.objects()
    let ids = try index.heldPictures()
    var position = VerifyPosition(after: start, isFull: depth == .full, among: ids)
    var rest = ids.dropFirst(position.checked)
    while !rest.isEmpty, !isStopped() {
      let pass = Array(rest.prefix(Self.pass))
      var entries: [PictureEntry] = []
      try index.forEachPicture(of: pass) { if $0.isHeld { entries.append($0) } }
      let stamps = kept.mapped(entries)
      let verdicts = verdicts(entries, depth, rows: stamps, isStopped: isStopped)
      guard verdicts.count == entries.count else { break }
      for (entry, verdict) in zip(entries, verdicts) where verdict != .good {
        position.note(verdict, at: entry.name.path)
      }
      position.pass(pass)
      rest = rest.dropFirst(pass.count)
      progress(position, ids.count)
    }
    let paths = Set(position.damaged + position.missing)
      .union(try PictureFiles(layout).strays(index))
    var report = try review.settled(paths) { paths throws(LarderError) in
      try lookAgain(at: paths, depth)
    }
    report.checked = position.checked
    report.isComplete = rest.isEmpty
    report.unchecked = rest.count
    return report
  }

  /// Checks pictures; a full check reads many at a time.
  ///
  /// - Parameters:
  ///   - entries: The rows.
  ///   - depth: Whether to compare metadata or to read every byte.
  ///   - rows: The entries from the store, by path; an entry that matches its row needs only a stamp.
  ///   - isStopped: Whether to end early.
  /// - Returns: The verdict on each entry, in the same order; fewer when the check was stopped.
  private func verdicts(
    _ entries: [PictureEntry],
    _ depth: Verification.Depth,
    rows: [String: PictureEntry],
    isStopped: @Sendable () -> Bool
  ) -> [CheckedFile] {
    let verdicts = Mutex([CheckedFile?](repeating: nil, count: entries.count))
    let next = Atomic<Int>(0)
    // Reading waits for the network, so there may be more threads than processors.
    let readers = depth == .full ? Self.readers : 1
    withoutActuallyEscaping(isStopped) { isStopped in
      let group = DispatchGroup()
      for number in 0..<readers {
        DispatchQueue(label: "larder.verify-\(number)").async(group: group) {
          while !isStopped() {
            let number = next.add(1, ordering: .relaxed).oldValue
            guard number < entries.count else { return }
            let verdict = verdict(entries[number], rows[entries[number].name.path], depth)
            verdicts.withLock { $0[number] = verdict }
          }
        }
      }
      group.wait()
    }
    return verdicts.withLock { $0.compactMap(\.self) }
  }

  private func verdict(
    _ entry: PictureEntry,
    _ there: PictureEntry?,
    _ depth: Verification.Depth
  ) -> CheckedFile {
    guard let there else { return .missing }
    let isAgreed = there.stamp == entry.stamp
    let known = isAgreed ? entry : there.row(of: entry)
    guard depth == .full else { return known == nil ? .damaged(isNewer: true) : .good }
    do throws(LarderError) {
      guard let digest = try listing.remote.digest(of: entry.name.path) else { return .missing }
      return digest.sha256 == (known ?? entry).sha256 ? .good : .damaged(isNewer: !isAgreed)
    } catch {
      return .unreadable
    }
  }

  private func lookAgain(
    at paths: Set<String>,
    _ depth: Verification.Depth
  ) throws(LarderError) -> SuspectReview.Look {
    var found = SuspectReview.Look()
    let rows = try listing.remote.rows(at: paths.sorted())
    let ids = try index.heldPictures(at: paths)
    let entries = try index.pictures(Array(ids.values)).values.filter(\.isHeld)
      .sorted { $0.id < $1.id }
    let verdicts = verdicts(entries, depth, rows: rows, isStopped: { false })
    for (entry, verdict) in zip(entries, verdicts) where verdict != .good {
      found.report.add(entry.name.path, verdict)
      if verdict == .damaged(isNewer: true) { found.underWay.insert(entry.name.path) }
    }
    for path in paths.sorted() where ids[path] == nil {
      guard let row = rows[path], !row.isRow(at: path) else { continue }
      found.report.strays.append(path)
      if PictureName.isPicturePath(path) { found.underWay.insert(path) }
    }
    return found
  }
}

extension [String: RemoteObject] {
  /// The entries that the list contains, as rows with only a stamp.
  fileprivate func mapped(_ entries: [PictureEntry]) -> [String: PictureEntry] {
    var rows: [String: PictureEntry] = [:]
    for entry in entries {
      guard let object = self[entry.name.path] else { continue }
      var row = PictureEntry(id: entry.id, url: "")
      row.stamp = object.stamp
      rows[entry.name.path] = row
    }
    return rows
  }
}

extension RemotePictures {
  /// Reads a picture and hashes it; nil when there is none.
  func digest(of path: String) throws(LarderError) -> FileDigest? {
    let digest = PictureDigest()
    let stamp = try read(path, restart: { digest.restart() }, piece: { digest.add($0) })
    return stamp.map { digest.file($0) }
  }

  /// Reads a whole picture into memory.
  ///
  /// - Parameters:
  ///   - path: The picture's path.
  ///   - most: The maximum size in bytes.
  /// - Returns: The picture's bytes; nil when there is no picture, or it has more than `most` bytes.
  /// - Throws: ``LarderError`` when it cannot be read.
  package func bytes(of path: String, most: ByteCount) throws(LarderError) -> [UInt8]? {
    let gathered = Mutex<(bytes: [UInt8], isLonger: Bool)>(([], false))
    let stamp = try read(
      path,
      restart: { gathered.withLock { $0 = ([], false) } },
      piece: { piece in
        gathered.withLock { gathered in
          gathered.isLonger =
            gathered.isLonger || gathered.bytes.count + piece.byteCount > Int(most.count)
          if gathered.isLonger { return gathered.bytes = [] }
          piece.withUnsafeBytes { gathered.bytes.append(contentsOf: $0) }
        }
      }
    )
    return gathered.withLock { stamp == nil || $0.isLonger ? nil : $0.bytes }
  }
}

/// Hashes a picture as it arrives, and detects its format from its first bytes.
final class PictureDigest: Sendable {
  private struct Input {
    var hash = SHA256()
    var start: [UInt8] = []
  }

  private let state = Mutex(Input())

  /// Forgets the received bytes.
  func restart() { state.withLock { $0 = Input() } }

  /// Adds the next bytes.
  func add(_ bytes: RawSpan) {
    state.withLock { state in
      bytes.withUnsafeBytes { buffer in
        let wanted = PictureType.sniffLength - state.start.count
        if wanted > 0 { state.start += buffer.prefix(wanted) }
        state.hash.update(bufferPointer: buffer)
      }
    }
  }

  /// The digest and type of the received bytes, with the given stamp.
  func file(_ stamp: FileStamp) -> FileDigest {
    state.withLock { state in
      FileDigest(
        sha256: Array(state.hash.finalize()),
        type: PictureType(shown: state.start),
        stamp: stamp
      )
    }
  }
}
