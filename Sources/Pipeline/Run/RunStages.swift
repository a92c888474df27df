import Base
import Cache
import Catalog
import Dispatch
import Transport

/// The results of the stages of a run.
///
/// The report is made from them.
struct RunResults {
  /// The sections, in the catalog's order.
  let sections: [SectionResult]
  /// The stage of the details; nil if the run fetches none.
  let details: DetailStage?
  /// The stage of the pictures.
  let pictures: PictureStage
  /// The number of bytes of the run's pictures that are in the cache.
  let bytesHeld: ByteCount
  /// The counts of squares; nil if the options request none.
  let squares: SyncReport.Squares?
  /// Makes the report.
  ///
  /// It has already compared the sections with those of the previous run.
  let writing: ReportWriting
}

/// The connected stages of a run.
///
/// One stage fetches sections, which are lists of items. One fetches details: a detail is the document about one item,
/// with more data than the item has in a section. One fetches pictures, and one makes square versions of them.
///
/// Each decoded section adds work to the stages of details and pictures. Each decoded detail adds pictures, and each
/// new picture is passed to the stage of squares.
final class RunStages: Sendable {
  private let opened: OpenedRun
  private let pictures: PictureStage
  private let details: DetailStage?
  private let squares: SquareStage?
  private let sections: SectionStage

  /// Makes the stages.
  ///
  /// Nothing is fetched yet.
  ///
  /// - Parameter opened: The run.
  /// - Throws: ``LarderError`` when the index cannot be read.
  init(_ opened: OpenedRun) throws {
    let context = opened.context
    let squares = try context.options.squareSide.map { side in
      try SquareStage(context, side: side, disk: opened.run.disk)
    }
    let pictures = try PictureStage(
      context,
      strays: opened.strays,
      list: opened.run.shared.list,
      since: opened.imported?.since
    ) { id in squares?.add(CollectionOfOne(id)) }
    let details = try DetailNeeds(context.request, context.needs).map {
      needs throws(LarderError) in
      try DetailStage(context, needs, pictures: context.options.thumbnailsOnly ? nil : pictures)
    }
    self.opened = opened
    self.squares = squares
    self.pictures = pictures
    self.details = details
    sections = SectionStage(context, previous: opened.before) { listing, isNew in
      context.failures.noting { () throws(LarderError) in
        try details?.add(listing)
        try pictures.add(listing, isChanged: isNew)
      }
    }
  }

  /// Fetches everything, and waits until the last row is on disk.
  ///
  /// - Parameter targets: The URLs and files of the sections.
  /// - Returns: The results.
  /// - Throws: ``LarderError`` when the index cannot be read or written.
  func run(_ targets: [DocumentSource]) throws -> RunResults {
    let context = opened.context
    sections.start(targets)
    let checked = checkShown()
    sections.group.join()
    // `OpenedRun.close` throws an error at the end of the run, because the run must first wait for the pictures in
    // progress.
    context.failures.noting { () throws(LarderError) in
      try sections.guardCatalog()
      let isRead = sections.sections.contains { [.network, .unchanged].contains($0.source) }
      if context.catalog.detail == nil, isRead, !context.hasStopped() {
        try context.index.forgetDetails(of: context.entry.id)
      }
    }
    pictures.release()
    let writing = ReportWriting(
      context,
      before: opened.before,
      lastReport: opened.previous?.report,
      sections: sections.sections
    )
    details?.group.join()
    details?.judge()
    pictures.group.join()
    checked.join()
    context.store.flush()
    var (held, bytesHeld) = ([PictureID](), ByteCount(0))
    try pictures.due.forEachHeld { id, bytes in
      if squares != nil { held.append(id) }
      bytesHeld += bytes
    }
    return RunResults(
      sections: sections.sections,
      details: details,
      pictures: pictures,
      bytesHeld: bytesHeld,
      squares: try squares?.finish(held),
      writing: writing
    )
  }

  /// Checks in the background that the items that the last run stored can still be read.
  ///
  /// Without this check, a run that finds no changes would read only a few of these items, and could miss damage.
  ///
  /// In a large catalog, each run checks only one part of the items. The run's number selects the part. The check has
  /// its own database connection, so that it does not delay the run's own reads.
  ///
  /// - Returns: A group to wait for the end of the check.
  private func checkShown() -> WorkGroup {
    let group = WorkGroup()
    let listings = opened.before.compactMap(\.listing)
    guard !listings.isEmpty else { return group }
    group.enter()  // Left at the end of the block.
    let (context, slice) = (opened.context, opened.number.rawValue)
    DispatchQueue(label: "larder.check").async {
      context.failures.noting { () throws(LarderError) in
        let index = try Index(reading: context.layout.root.path)
        try index.checkListings(listings, slice: slice)
        try index.checkHistory(slice: slice, at: context.now())
      }
      group.leave()
    }
    return group
  }
}
