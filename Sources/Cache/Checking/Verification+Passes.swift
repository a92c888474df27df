import Dispatch
import Synchronization

/// How far a check has come, so that an interrupted one can resume.
package struct VerifyPosition: Sendable, Equatable, Codable {
  /// How closely the files were looked at.
  package var isFull: Bool
  /// The last picture that was looked at: all before it were too.
  package var last: Int64 = -1
  /// How many were looked at.
  package var checked = 0
  /// Files whose bytes are not those that were committed.
  package var damaged: [String] = []
  /// Rows whose file is gone.
  package var missing: [String] = []

  /// The beginning of a check.
  package init(isFull: Bool) {
    self.isFull = isFull
  }
}

extension Verification {
  /// How many pictures are looked at between two moments at which the check can be interrupted.
  private static let pass = 256

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
    var entries: [PictureEntry] = []
    try index.forEachPicture { if $0.isHeld { entries.append($0) } }
    var position = VerifyPosition(isFull: depth == .full)
    // What seemed wrong before is looked at again with the rest.
    (position.damaged, position.missing) = (start.damaged, start.missing)
    position.last = start.last
    position.checked = entries.prefix { $0.id.number <= start.last }.count
    var rest = entries.dropFirst(position.checked)
    while !rest.isEmpty {
      let pass = Array(rest.prefix(Self.pass))
      guard let found = judge(pass, depth, isStopped: isStopped) else { break }
      for (entry, verdict) in zip(pass, found) where verdict != .good {
        if verdict == .missing {
          position.missing.append(entry.name.path)
        } else {
          position.damaged.append(entry.name.path)
        }
      }
      position.checked += pass.count
      position.last = pass.last?.id.number ?? position.last
      rest = rest.dropFirst(pass.count)
      progress(position, entries.count)
    }
    let suspects = Set(position.damaged + position.missing)
    let ids = Dictionary(
      entries.lazy.filter { suspects.contains($0.name.path) }.map { ($0.name.path, $0.id) }
    ) { first, _ in first }
    var report = try settled(suspects.union(try orphans())) { paths throws(CacheError) in
      try look(at: paths, ids, depth)
    }
    report.checked = position.checked
    report.isComplete = rest.isEmpty
    guard report.isComplete else { return report }
    let squares = SquareVerification(layout: layout, index: index)
    let first = try squares.run(depth).report
    report.add(
      try settled(first.paths) { paths throws(CacheError) in try squares.look(at: paths, depth) }
    )
    report.checked += first.checked
    return report
  }

  /// Looks at these pictures, in parallel, and says what it came to of each; nil when it was stopped.
  private func judge(
    _ entries: [PictureEntry],
    _ depth: Depth,
    isStopped: @Sendable () -> Bool
  ) -> [Verdict]? {
    let verdicts = Mutex([Verdict?](repeating: nil, count: entries.count))
    DispatchQueue.concurrentPerform(iterations: (entries.count + 15) / 16) { block in
      for place in (block * 16)..<min(block * 16 + 16, entries.count) {
        guard !isStopped() else { return }
        let verdict = judge(entries[place], depth)
        verdicts.withLock { $0[place] = verdict }
      }
    }
    let found = verdicts.withLock { $0.compactMap(\.self) }
    return found.count == entries.count ? found : nil
  }
}
