import Dispatch
import Synchronization

/// How far a check has come, so that one that was interrupted can go on.
public struct VerifyPosition: Sendable, Equatable, Codable {
  /// How closely the files were looked at.
  public var isFull: Bool
  /// The last picture that was looked at: all before it were too.
  public var last: Int64 = -1
  /// How many were looked at.
  public var checked = 0
  /// Files whose bytes are not those that were committed.
  public var damaged: [String] = []
  /// Rows whose file is gone.
  public var missing: [String] = []

  /// The beginning of a check.
  public init(isFull: Bool) {
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
  /// - Returns: What is damaged, missing or stray; not complete when it was stopped.
  /// - Throws: ``CacheError`` when a folder or the index cannot be read.
  public func run(
    _ depth: Depth,
    from start: VerifyPosition,
    isStopped: @Sendable () -> Bool,
    progress: (VerifyPosition, Int) -> Void
  ) throws(CacheError) -> VerifyReport {
    var entries: [PictureEntry] = []
    try index.forEachPicture { if $0.isHeld { entries.append($0) } }
    let known = Set(entries.map(\.name.path))
    let suspects = Set(start.damaged + start.missing)
    var position = VerifyPosition(isFull: depth == .full)
    let again = try judge(
      entries.filter { $0.id.number <= start.last && suspects.contains($0.name.path) },
      depth
    ) { false }
    position.damaged = again?.damaged ?? []
    position.missing = again?.missing ?? []
    position.last = start.last
    position.checked = entries.prefix { $0.id.number <= start.last }.count
    var rest = entries.dropFirst(position.checked)
    while !rest.isEmpty {
      let pass = Array(rest.prefix(Self.pass))
      guard let found = try judge(pass, depth, isStopped: isStopped) else { break }
      position.damaged += found.damaged
      position.missing += found.missing
      position.checked += pass.count
      position.last = pass.last?.id.number ?? position.last
      rest = rest.dropFirst(pass.count)
      progress(position, entries.count)
    }
    var report = VerifyReport()
    report.checked = position.checked
    report.isComplete = rest.isEmpty
    report.damaged = position.damaged.sorted()
    report.missing = position.missing.sorted()
    report.stray = try strays(known: known)
    guard report.isComplete else { return report }
    let squares = try SquareVerification(layout: layout, index: index).run(depth, pictures: known)
    report.checked += squares.checked
    report.damaged = (report.damaged + squares.damaged).sorted()
    report.missing = (report.missing + squares.missing).sorted()
    report.stray = (report.stray + squares.stray).sorted()
    return report
  }

  /// Looks at these pictures, in parallel; nil when it was stopped.
  private func judge(
    _ entries: [PictureEntry],
    _ depth: Depth,
    isStopped: @Sendable () -> Bool
  ) throws(CacheError) -> (damaged: [String], missing: [String])? {
    struct State {
      var damaged: [String] = []
      var missing: [String] = []
      var wasStopped = false
    }
    let state = Mutex(State())
    DispatchQueue.concurrentPerform(iterations: (entries.count + 15) / 16) { block in
      for entry in entries[(block * 16)..<min(block * 16 + 16, entries.count)] {
        guard !isStopped() else { return state.withLock { $0.wasStopped = true } }
        let path = entry.name.path
        // What cannot be read is as good as damaged.
        let verdict = (try? judge(entry, depth)) ?? .damaged
        state.withLock { state in
          if verdict == .damaged { state.damaged.append(path) }
          if verdict == .missing { state.missing.append(path) }
        }
      }
    }
    return state.withLock { $0.wasStopped ? nil : ($0.damaged, $0.missing) }
  }
}
