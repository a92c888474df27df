import Base
import Cache
import Catalog
import Dispatch
import Transport

/// The results of the stages of a run, for the report.
struct RunResults {
  /// The sections, in the catalog's order.
  let sections: [SectionResult]
  /// The details; nil when none were asked for.
  let details: DetailStage?
  /// The pictures.
  let pictures: PictureStage
  /// The squares; nil when none were asked for.
  let squares: SyncReport.Squares?
  /// The report, as far as the sections decide it.
  let writing: ReportWriting
  /// Documents of sections that did not change, which the run's end writes down.
  let renewed: [DocumentEntry]
}

/// The stages of a run, and their connections: sections name details and pictures, details name
/// pictures, and squares are made of pictures.
final class RunStages: Sendable {
  private let context: RunContext
  private let before: [RunSection]
  private let last: LastReport
  private let number: RunID
  private let states: PictureStates?
  private let pictures: PictureStage
  private let details: DetailStage?
  private let squares: SquareStage?
  private let sections: SectionStage

  /// Makes the stages; nothing is fetched yet.
  ///
  /// - Parameters:
  ///   - opened: the run.
  ///   - addresses: turns the addresses of a catalog file into sources.
  ///   - disk: where squares go.
  ///   - source: where pictures come from.
  ///   - hasStopped: asked before other runs' pictures are entered whether the run was ended
  ///     early.
  /// - Throws: ``LarderError`` when the index cannot be read.
  init(
    _ opened: OpenedRun,
    _ addresses: CatalogAddresses,
    disk: any Disk,
    pictures source: PictureSource = .origins,
    hasStopped: @escaping @Sendable () -> Bool
  ) throws {
    let context = opened.context
    let squares = try Self.squares(context, disk)
    let pictures = PictureStage(
      context,
      known: opened.known,
      strays: opened.strays,
      source: source,
      hasStopped: hasStopped
    ) { id in squares?.add(CollectionOfOne(id)) }
    let details = try Self.details(context, addresses, pictures)
    self.context = context
    self.squares = squares
    self.pictures = pictures
    self.details = details
    before = opened.before
    number = opened.number
    last = LastReport(opened.previous?.report, context.catalog.pictures.identity)
    states = opened.states
    sections = SectionStage(
      context,
      previous: opened.before,
      report: last,
      // Details go before pictures, and which there are a listing tells only once it is kept.
      ahead: { if details == nil { pictures.askAhead($0) } }
    ) { arrival in
      Self.hand(on: arrival, context, details, pictures)
    }
  }

  /// Fetches everything and waits for the last byte to be kept.
  ///
  /// - Parameters:
  ///   - targets: the sources of the sections.
  ///   - hasStopped: whether the run was ended early.
  /// - Returns: The results.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func run(_ targets: [DocumentSource], hasStopped: () -> Bool) throws -> RunResults {
    sections.start(targets)
    let checked = checkShown()
    readStates()
    sections.group.join()
    do throws(LarderError) {
      if !hasStopped() { try sections.guardCatalog() }
    } catch {
      // Said once the pictures that are under way have ended: the run may not leave them behind.
      context.failures.note(error)
    }
    pictures.release()
    let writing = ReportWriting(
      context,
      before: before,
      last: last,
      sections: sections.sections
    )
    details?.group.join()
    details?.judgeMissing()
    if !hasStopped() { details?.judgeFields() }
    pictures.settleRest()
    pictures.group.join()
    checked.join()
    context.newestURLs?.flush()
    let flushed = DispatchSemaphore(value: 0)
    context.store.flush { flushed.signal() }
    flushed.wait()
    return RunResults(
      sections: sections.sections,
      details: details,
      pictures: pictures,
      squares: try squares?.finish(pictures.seen.sorted()),
      writing: writing,
      renewed: sections.takeRenewed()
    )
  }

  /// Checks on a thread of its own that the listings of the last run can still be shown: a run to which nothing is new
  /// reads few of their items.
  ///
  /// A connection of its own: the run does not wait for it.
  ///
  /// - Returns: A group that is empty once all is checked.
  private func checkShown() -> WorkGroup {
    let group = WorkGroup()
    let listings = before.compactMap(\.listing)
    guard !listings.isEmpty else { return group }
    group.enter()  // Left at the end of the block.
    let slice = number.rawValue
    DispatchQueue(label: "larder.check").async { [context] in
      do throws(LarderError) {
        let index = try Index(reading: context.layout.root.path)
        try index.checkListings(listings, slice: slice)
        try index.checkHistory(slice: slice, at: context.now())
      } catch {
        context.failures.note(error)
      }
      group.leave()
    }
    return group
  }

  /// Reads the states of pictures while the sections are being fetched, whose requests go first.
  private func readStates() {
    context.starts.async { [context, states] in
      do throws(LarderError) {
        try states?.read()
      } catch {
        context.failures.note(error)
      }
    }
  }

  /// Starts the work for a listing: the details of its items, and its pictures.
  private static func hand(
    on arrival: SectionStage.Arrival,
    _ context: RunContext,
    _ details: DetailStage?,
    _ pictures: PictureStage
  ) {
    do throws(LarderError) {
      try details?.add(arrival.listing)
      if let references = arrival.references {
        pictures.add(references)
      } else {
        context.newestURLs?.flush()
        var urls = ListedURLs(arrival.listing, context.index)
        try context.index.forEachPictureBatch(of: arrival.listing) { ids throws(LarderError) in
          try pictures.add(ids) { wanted, found throws(LarderError) in
            try urls.find(wanted, found)
          }
        }
      }
    } catch {
      context.failures.note(error)
    }
  }

  private static func squares(
    _ context: RunContext,
    _ disk: any Disk
  ) throws -> SquareStage? {
    guard let side = context.options.squareSide else { return nil }
    return try SquareStage(context, side: side, disk: disk, isOver: context.isOver)
  }

  private static func details(
    _ context: RunContext,
    _ addresses: CatalogAddresses,
    _ pictures: PictureStage
  ) throws -> DetailStage? {
    guard let rule = context.catalog.detail, !context.options.noDetails else { return nil }
    var order: (@Sendable (String, String) -> Bool)?
    if context.options.onlyDue {
      let seen = try context.index.detailChecks(catalog: context.entry.id)
      order = { (seen[$0] ?? 0, $0) < (seen[$1] ?? 0, $1) }
    }
    return DetailStage(
      context,
      rule: rule,
      known: try context.index.details(catalog: context.entry.id),
      pictures: context.options.thumbnailsOnly ? nil : pictures,
      order: order
    ) { text throws(TransferFailure) in try addresses.target(text) }
  }
}
