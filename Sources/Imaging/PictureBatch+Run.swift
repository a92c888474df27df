import Dispatch
import Glibc
import Synchronization
import SystemPackage

extension PictureBatch {
  /// Makes every picture on a bounded number of threads.
  ///
  /// Blocks until all are done. One input that cannot be read stops none of the others.
  ///
  /// - Parameters:
  ///   - making: What is to be made of each input.
  ///   - workers: Pictures that are worked on at a time, which more than there are processors make no
  ///     more of; nil for one a processor.
  ///   - overwrite: Whether outputs that are there may be replaced.
  ///   - skipsExisting: Whether inputs whose output is there already are left out.
  ///   - report: Called with each result, in the inputs' order, one at a time, on any thread.
  ///   - isCancelled: Asked before each picture; true leaves the rest unmade and without result.
  ///   - deliver: What else is done with a picture once its file is whole, as an upload is; it may
  ///     block, and is called for at most eight pictures at a time.
  /// - Returns: The results in the inputs' order.
  /// - Throws: ``ImagingError`` when `making` asks for the impossible, or the disk fails at the end.
  @discardableResult
  public func run(
    _ making: some PictureMaking,
    workers: Int? = nil,
    overwrite: Bool = false,
    skipsExisting: Bool = false,
    report: @escaping @Sendable (PictureResult) -> Void = { _ in },
    isCancelled: @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult = { $1 }
  ) throws(ImagingError) -> [PictureResult] {
    try making.check()
    let make = { @Sendable (input: PictureInput, output: FilePath) throws(ImagingError) in
      try making.make(from: input.file(making.limits), for: output)
    }
    return try run(
      make,
      workers: workers,
      overwrite: overwrite,
      skipsExisting: skipsExisting,
      report: report,
      isCancelled: isCancelled,
      deliver: deliver
    )
  }

  /// Makes every picture where `place` says, as ``run(_:workers:overwrite:skipsExisting:report:isCancelled:deliver:)``
  /// does in this process.
  @discardableResult
  package func run(
    _ order: PictureOrder,
    at place: some PictureWorking,
    workers: Int? = nil,
    overwrite: Bool = false,
    skipsExisting: Bool = false,
    report: @escaping @Sendable (PictureResult) -> Void = { _ in },
    isCancelled: @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult = { $1 }
  ) throws(ImagingError) -> [PictureResult] {
    try order.making.check()
    let make = { @Sendable (input: PictureInput, output: FilePath) throws(ImagingError) in
      try place.make(order, of: input, for: output, isStopped: { false })
    }
    return try run(
      make,
      workers: workers,
      overwrite: overwrite,
      skipsExisting: skipsExisting,
      report: report,
      isCancelled: isCancelled,
      deliver: deliver
    )
  }

  private typealias Make =
    @Sendable (PictureInput, _ output: FilePath) throws(ImagingError) -> EncodedPicture

  private func run(
    _ make: Make,
    workers: Int?,
    overwrite: Bool,
    skipsExisting: Bool,
    report: @escaping @Sendable (PictureResult) -> Void,
    isCancelled: @Sendable () -> Bool,
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult
  ) throws(ImagingError) -> [PictureResult] {
    let next = Atomic(0)
    let ledger = Ledger(count: items.count, report: report)
    let desk = WritingDesk(overwrite: overwrite, deliver: deliver)
    let threads = min(max(workers ?? processors, 1), max(items.count, 1))
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      while !isCancelled() {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < items.count else { return }
        let item = items[index]
        if skipsExisting, let output = item.output, WholeFile.isThere(output) {
          ledger.record(PictureResult(skipping: item.input.shown, output.shown), at: index)
          continue
        }
        do throws(ImagingError) {
          let picture = try Self.make(make, of: item, overwrite)
          desk.write(picture, of: item) { ledger.record($0, at: index) }
        } catch {
          ledger.record(PictureResult(input: item.input.shown, error: error), at: index)
        }
      }
    }
    try desk.close()
    return ledger.results()
  }

  /// What a run would do, of which nothing is done: results without what only the pictures tell.
  ///
  /// - Parameters:
  ///   - overwrite: Whether outputs that are there may be replaced.
  ///   - skipsExisting: Whether inputs whose output is there already are left out.
  /// - Returns: A result for each input, in their order.
  public func plan(overwrite: Bool = false, skipsExisting: Bool = false) -> [PictureResult] {
    items.map { item in
      let input = item.input.shown
      guard let output = item.output else {
        let error = item.error ?? ImagingError(.unsupported, "cannot read \(input)")
        return PictureResult(input: input, error: error)
      }
      if skipsExisting, WholeFile.isThere(output) {
        return PictureResult(skipping: input, output.shown)
      }
      do throws(ImagingError) {
        if !overwrite { try WholeFile.checkAbsent(output) }
        return PictureResult(planning: input, output.shown)
      } catch {
        return PictureResult(input: input, error: error)
      }
    }
  }

  private static func make(
    _ make: Make,
    of item: Item,
    _ overwrite: Bool
  ) throws(ImagingError) -> EncodedPicture {
    guard let output = item.output else {
      throw item.error ?? ImagingError(.unsupported, "cannot read \(item.input.shown)")
    }
    if !overwrite { try WholeFile.checkAbsent(output) }
    return try make(item.picture, output)
  }
}

/// Writes pictures while others are being made, as waiting for the disk takes no processor.
private final class WritingDesk: Sendable {
  private let overwrite: Bool
  private let deliver: @Sendable (EncodedPicture, PictureResult) -> PictureResult
  private let queue = DispatchQueue(label: "larder.pictures.write", attributes: .concurrent)
  private let written = DispatchGroup()
  /// Pictures that may wait in memory for the disk.
  private let slots = DispatchSemaphore(value: 8)
  /// Folders whose new names are not on disk yet, guarded by itself.
  private let folders = Mutex<Set<FilePath>>([])
  /// Folders that were looked through for what killed runs left, guarded by itself.
  private let swept = Mutex<Set<FilePath>>([])

  init(
    overwrite: Bool,
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult
  ) {
    self.overwrite = overwrite
    self.deliver = deliver
  }

  /// Writes a picture soon, and says how it went.
  func write(
    _ picture: EncodedPicture,
    of item: PictureBatch.Item,
    then report: @escaping @Sendable (PictureResult) -> Void
  ) {
    guard let output = item.output else { return }
    slots.wait()
    queue.async(group: written) { [self] in
      defer { slots.signal() }
      let input = item.input.shown
      do throws(ImagingError) {
        sweepOnce(output.removingLastComponent())
        try picture.file.write(to: output, overwrite: overwrite)
        folders.withLock { _ = $0.insert(output.removingLastComponent()) }
        let result = PictureResult(input: input, output: output.shown, picture: picture)
        report(deliver(picture, result))
      } catch {
        report(PictureResult(input: input, error: error))
      }
    }
  }

  /// Removes what killed runs left in a folder, before the first file of this run goes there.
  private func sweepOnce(_ folder: FilePath) {
    guard swept.withLock({ $0.insert(folder).inserted }) else { return }
    WholeFile.sweep(folder)
  }

  /// Waits for what is under way and puts the names on disk.
  func close() throws(ImagingError) {
    written.wait()
    for folder in folders.withLock({ $0 }) { try WholeFile.sync(folder) }
  }
}

/// The results so far, handed on in order.
private final class Ledger: Sendable {
  private struct State {
    var results: [PictureResult?]
    var reported = 0
  }

  /// Guarded by itself; never held while `report` runs.
  private let state: Mutex<State>
  private let order = DispatchQueue(label: "larder.pictures.report")
  private let report: @Sendable (PictureResult) -> Void

  init(count: Int, report: @escaping @Sendable (PictureResult) -> Void) {
    state = Mutex(State(results: Array(repeating: nil, count: count)))
    self.report = report
  }

  func record(_ result: PictureResult, at index: Int) {
    state.withLock { $0.results[index] = result }
    order.sync {
      let ready = state.withLock { state in
        let ready = state.results[state.reported...].prefix { $0 != nil }.compactMap(\.self)
        state.reported += ready.count
        return ready
      }
      for result in ready { report(result) }
    }
  }

  func results() -> [PictureResult] {
    state.withLock { $0.results.compactMap(\.self) }
  }
}

/// The processors that are there to be used.
private var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
