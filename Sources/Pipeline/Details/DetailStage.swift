import Base
import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// The stage of a run that brings the details of all items up to date.
///
/// A section is a list of items. A detail is the document about one item, with more data than the item has in a
/// section. An item in several sections has one detail. The stage passes the pictures of details to ``PictureStage``.
final class DetailStage: Sendable {
  /// Waits for the details.
  ///
  /// It is entered once for each detail that is due, and left when the detail is on disk or has failed.
  let group = DispatchGroup()

  private struct Work {
    var tally = SyncReport.Details()
    var lost: [ExactText: [LostField]] = [:]
    /// The number of items that the cache has a row of a detail for.
    var known = 0
    /// The number of details in the cache that were not missing before the run.
    var held = 0
    /// The ids of items whose details were in the cache, not missing before, and are missing now.
    var vanished: [String] = []
    /// Whether the document with the details of all items was requested.
    var hasAsked = false
    /// The answer for this document.
    var answer: SharedDetails?
  }

  /// A detail that is being brought up to date.
  private struct Detail: Sendable {
    /// The id of the item.
    let id: String
    var request: DocumentRequest
    /// The number of its row; nil if there is none yet.
    let row: Int64?
    /// The row before this run; nil if there was none.
    let known: DetailEntry?
  }

  /// Details of a section that need nothing.
  private struct Fresh {
    /// The numbers of the rows of those that the shop still has.
    var rows: [Int64] = []
    /// The number of those that the shop still has and that have a body.
    var bodies = 0
    /// The number of those that the cache has and that are not missing.
    var held = 0
    var missing = 0
    /// The items whose details have unreadable fields.
    var lost: [String] = []

    var count: Int { held + missing }

    mutating func add(_ known: SeenDetail.Known, of item: String) {
      if known.state == .missing { missing += 1 } else { held += 1 }
      if known.hasLost { lost.append(item) }
      guard known.isCurrent else { return }
      rows.append(known.row)
      if known.hasBody { bodies += 1 }
    }
  }

  private let context: RunContext
  private let needs: DetailNeeds
  private let pictures: PictureStage?
  private let due: DueDetails
  private let fields: LostDetailFields
  private let state = Mutex(Work())
  private let puller: Puller

  /// The maximum number of details in progress.
  private static let window = 64

  /// Makes the stage for the items of one catalog.
  ///
  /// - Parameters:
  ///   - context: The values that all stages of the run share.
  ///   - needs: Decides which details are requested.
  ///   - pictures: The stage that fetches the pictures of details; nil if this run does not fetch them.
  /// - Throws: ``LarderError`` when the index cannot be used.
  init(
    _ context: RunContext,
    _ needs: DetailNeeds,
    pictures: PictureStage?
  ) throws(LarderError) {
    self.context = context
    self.needs = needs
    self.pictures = pictures
    due = try needs.due(in: context.index, of: context.entry.id)
    fields = LostDetailFields(
      context.catalog.mapping.detail,
      allowsRemovals: context.options.allowRemovals
    )
    // If one document has all details, they wait for it.
    puller = Puller(limit: Self.window, queue: context.starts, isOpen: !needs.rule.isShared)
    puller.whenFree { [weak self] _, count in self?.start(count) }
  }

  /// The counts of details so far.
  var tally: SyncReport.Details { state.withLock { $0.tally } }
  /// The unreadable fields of each item's detail, by the item's id.
  var lost: [ExactText: [LostField]] { state.withLock { $0.lost } }

  /// The line of the puller, which has one for all details.
  private static let line = ""

  /// Adds the items of a section.
  ///
  /// The index stores them as a listing. Details that need nothing are counted, and their pictures are passed on. The
  /// others wait.
  func add(_ listing: ListingID) throws(LarderError) {
    let now = context.now()
    var fresh = Fresh()
    var first: SeenDetail?
    let seen = try due.see(listing) { detail in
      first = first ?? detail
      let answered = try needs.due(detail, at: now)
      if answered == nil, let known = detail.known { fresh.add(known, of: detail.item) }
      return answered
    }
    for _ in 0..<seen.due { group.enter() }  // Left in finish(_:), which ends every detail.
    context.progress.update {
      $0.details.total += seen.total
      $0.details.done += fresh.count
    }
    let isFirst = state.withLock { state in
      defer { state.hasAsked = state.hasAsked || seen.due > 0 }
      state.known += fresh.count
      state.held += fresh.held
      state.tally.total += seen.total
      state.tally.unchanged += fresh.held
      state.tally.missing += fresh.missing
      return !state.hasAsked
    }
    if needs.rule.isShared, isFirst, let first { askShared(first) }
    puller.add([Self.line: seen.due])
    fields.noteUnchanged(fresh.rows.count, held: fresh.bodies)
    for known in try context.index.details(catalog: context.entry.id, items: fresh.lost).values {
      noteLost(known)
    }
    addPictures(.details(fresh.rows))
  }

  // MARK: - Requests

  /// Requests the next details.
  private func start(_ count: Int) {
    var details: [Detail] = []
    do throws(LarderError) {
      for detail in try due.take(count) {
        switch try needs.source(of: detail.item, detail.record) {
        case .success(let source): details.append(self.detail(detail, at: source))
        case .failure(let failure): context.failures.note(.detail, id: detail.item, failure)
        }
      }
    } catch {
      context.failures.note(error)
      return finish(count) { $0.failed += count }
    }
    let unaddressed = count - details.count
    if unaddressed > 0 { finish(unaddressed) { $0.failed += unaddressed } }
    let known = details.compactMap(\.known)
    state.withLock { state in
      state.known += known.count
      state.held += known.count { $0.state == .held }
    }
    if let answer = state.withLock({ $0.answer }) {
      // The rows of the batch are committed together at the end of this announcement.
      context.store.announce(1)
      for detail in details { take(detail, from: answer) }
      return context.store.conclude()
    }
    let now = context.now()
    for detail in details {
      let (held, source) = (detail.request.held, detail.request.source)
      // Another item can have the same document, and its answer can have arrived since this detail was found due.
      if let known = detail.known,
        needs.need(of: known.state, in: held, source, at: now).isQuiet
      {
        show(known, detail)
      } else {
        ask(detail)
      }
    }
  }

  /// A detail to request at `source`, with its document in the cache.
  private func detail(_ wanted: WantedDetail, at source: DocumentSource) -> Detail {
    var request = DocumentRequest(source: source, reader: needs.reader, mapping: needs.mapping)
    request.isDecoded = wanted.known?.isCurrent ?? false
    request.held = needs.held(wanted.document, wanted.known?.state, at: source)
    return Detail(id: wanted.item, request: request, row: wanted.row, known: wanted.known)
  }

  private func ask(_ detail: Detail) {
    context.store.announce(1)
    context.fetch(detail.request, priority: .detail) { [self] outcome in
      answer(outcome, detail)
      context.store.conclude()
    }
  }

  private func answer(_ outcome: DocumentOutcome, _ detail: Detail) {
    switch outcome {
    case .stands(let document):
      guard let known = detail.known else { return finish { $0.failed += 1 } }
      confirm(known, document, detail)
    case .excused(_, let failure):
      guard let known = detail.known else { return fail(detail, failure) }
      show(known, detail)
    case .new(let body, let base, let document):
      do throws(CatalogError) {
        let decoded = try body.decoded { body throws(CatalogError) in
          try decodeDetail(body, id: detail.id, using: context.catalog)
        }
        take(decoded, document, base: base, detail)
      } catch {
        guard error.code != .absentDetail else { return takeMissing(detail, document) }
        refuse(detail, error.description)
      }
    case .failed(let failure) where failure.saysThereIsNone:
      context.failures.count(attempts: failure.attempts)
      let now = context.now()
      var document = detail.request.row
      document.fetched = now
      document.expiry = failure.refusalExpiry(at: now) ?? 0
      takeMissing(detail, document)
    case .failed(let failure):
      fail(detail, failure)
    }
  }

  /// Requests the document that has the details of all items.
  ///
  /// - Parameter first: The detail of any item. It tells which document sent the cached details.
  private func askShared(_ first: SeenDetail) {
    do throws(LarderError) {
      // If the URL cannot be formed, each item fails when it starts.
      guard let source = try? needs.source(of: "", nil).get() else { return settle(.failed) }
      var request = DocumentRequest(source: source, reader: needs.reader, mapping: needs.mapping)
      request.held = try needs.heldShared(
        first.document,
        first.known?.state,
        at: source,
        in: context.index
      )
      let need = context.needs.need(ofListing: request.held, source, at: context.now())
      if need.isQuiet, let held = request.held { return settle(.unchanged(held)) }
      context.fetch(request, priority: .detail) { [self, request] outcome in
        settle(context.sharedDetails(outcome, request))
      }
    } catch {
      context.failures.note(error)
      settle(.failed)
    }
  }

  /// Lets the waiting items take their details from the document.
  private func settle(_ answer: SharedDetails) {
    state.withLock { $0.answer = answer }
    puller.open()
  }

  /// Takes an item's detail from the document that has the details of all items.
  ///
  /// The rows say that the document has to be requested in full. Its final row is written at the end of the run. If the
  /// run is killed before, the next one therefore gets all details again.
  private func take(_ detail: Detail, from answer: SharedDetails) {
    switch answer {
    case .decoded(let details, let unreadable, let document, let base):
      if let decoded = details[detail.id.exact] {
        take(decoded, document.unvouched, base: base, detail)
      } else if let reason = unreadable[detail.id.exact] {
        refuse(detail, reason)
      } else {
        takeMissing(detail, document.unvouched)
      }
    case .unchanged(let document):
      guard let known = detail.known, known.isCurrent else { return takeMissing(detail, document) }
      confirm(known, nil, detail)
    case .failed: endWithout(detail)
    }
  }

  // MARK: - Outcome of a detail

  /// Handles a detail that was just decoded.
  ///
  /// Writes its row, and then passes on its pictures.
  private func take(
    _ decoded: ItemDetail,
    _ document: DocumentEntry,
    base: WebURL?,
    _ detail: Detail
  ) {
    if context.options.strict, let bad = decoded.lost?.first {
      return refuse(detail, bad.words(of: detail.id))
    }
    let (entry, shown) = context.row(of: decoded, document, base: base)
    guard !fields.admits(decoded, replacing: detail.known) else {
      let isChanged = detail.known.map { $0.body != entry.body } ?? false
      return write(entry, document, showing: shown) {
        $0.fetched += 1
        if isChanged { $0.changed += 1 }
      }
    }
    setAside(detail.id, for: entry)
    if let known = detail.known { noteLost(known) }
    // The row of the document lets the next run request it in full. The pictures get rows, but are not requested yet.
    let row = CommittedDetail(
      nil,
      of: context.entry.id,
      from: document.unvouched,
      showing: shown
    )
    context.store.commit(row) { [self] in finish { $0.fetched += 1 } }
  }

  /// Leaves the row of a detail as it is until all details are finished; see ``LostDetailFields``.
  private func setAside(_ item: String, for new: DetailEntry? = nil) {
    context.failures.noting { () throws(LarderError) in try due.setAside(item, for: new) }
  }

  /// Handles a cached detail that the shop has unchanged.
  ///
  /// Writes the row of its document, if any, and finishes the detail when the row is on disk.
  private func confirm(_ known: DetailEntry, _ document: DocumentEntry?, _ detail: Detail) {
    // With `--strict`, a detail fails if one of its fields could not be read.
    if context.options.strict, let body = known.body,
      let bad = ItemDetail.lostFields(in: body).first
    {
      return refuse(detail, bad.words(of: known.item))
    }
    addPictures(of: known, detail)
    keep(known)
    guard let document else { return finish { Self.count(known, in: &$0) } }
    write(nil, document) { Self.count(known, in: &$0) }
  }

  /// Keeps a cached detail that needs no request, or whose request failed.
  private func show(_ known: DetailEntry, _ detail: Detail) {
    if known.state == .missing, known.body != nil, let document = detail.request.held {
      return takeMissing(detail, document)
    }
    addPictures(of: known, detail)
    keep(known)
    finish { Self.count(known, in: &$0) }
  }

  /// Handles a detail that the shop does not have.
  ///
  /// If the cache has an earlier version, that version is kept until the user allows its removal. Its row has the time
  /// since which the detail is missing. Its pictures are kept too, but not requested, because the shop has probably
  /// removed them with the detail.
  private func takeMissing(_ detail: Detail, _ document: DocumentEntry) {
    guard var known = detail.known, known.body != nil, !context.options.allowRemovals else {
      let isRemoved = detail.known?.body != nil
      return write(DetailEntry(item: detail.id, document: document.id, state: .missing), document)
      {
        $0.missing += 1
        if isRemoved { $0.changed += 1 }
      }
    }
    known.document = document.id
    known.since = known.since ?? context.now()
    if known.state == .held { state.withLock { $0.vanished.append(detail.id) } }
    write(known, document) {
      $0.missing += 1
      $0.stale += 1
    }
  }

  /// Handles a detail that could not be fetched.
  ///
  /// The cached version is kept, and its pictures are brought up to date.
  private func fail(_ detail: Detail, _ failure: TransferFailure) {
    context.failures.note(.detail, id: detail.id, failure)
    endWithout(detail, isFailure: !failure.endedWithRun)
  }

  /// Handles a detail that was received but cannot be read.
  ///
  /// The cached version is kept, and its pictures are brought up to date.
  private func refuse(_ detail: Detail, _ why: String) {
    let words = context.secrets.applied(to: why)
    context.failures.note(.detail, id: detail.id, detail.request.source.redacted, words)
    endWithout(detail)
  }

  private func endWithout(_ detail: Detail, isFailure: Bool = true) {
    if detail.known?.isCurrent == true { setAside(detail.id) }
    if let known = detail.known { addPictures(of: known, detail) }
    finish { if isFailure { $0.failed += 1 } }
  }

  /// Writes rows, requests the pictures that they show, and finishes the detail when the rows are on disk.
  ///
  /// `detail` is nil if only the row of its document is new.
  private func write(
    _ detail: DetailEntry?,
    _ document: DocumentEntry,
    showing pictures: [PictureAddress] = [],
    _ count: @escaping @Sendable (inout SyncReport.Details) -> Void
  ) {
    if let detail { noteLost(detail) }
    let catalog = context.entry.id
    context.store.commit(
      CommittedDetail(detail, of: catalog, from: document, showing: pictures)
    ) { [self] in
      // The rows of the pictures are missing if the commit failed, and then the run ends.
      if context.store.failure == nil, !pictures.isEmpty {
        addPictures(.pictures(pictures.map(\.id)), isChanged: true)
      }
      finish(1, count)
    }
  }

  /// Records a detail that stays as it is.
  private func keep(_ known: DetailEntry) {
    noteLost(known)
    if known.isCurrent { fields.noteUnchanged(1, held: known.body == nil ? 0 : 1) }
  }

  /// Records the unreadable fields of the detail that an item has from now on.
  private func noteLost(_ detail: DetailEntry) {
    let lost = detail.body.map(ItemDetail.lostFields) ?? []
    state.withLock { $0.lost[detail.item.exact] = lost.isEmpty ? nil : lost }
  }

  private static func count(_ known: DetailEntry, in tally: inout SyncReport.Details) {
    if known.state == .missing { tally.missing += 1 } else { tally.unchanged += 1 }
  }

  private func addPictures(of known: DetailEntry, _ detail: Detail) {
    if known.state == .held, let row = detail.row { addPictures(.details([row])) }
  }

  private func addPictures(_ source: PictureSource, isChanged: Bool = false) {
    context.failures.noting { () throws(LarderError) in
      try pictures?.add(source, isChanged: isChanged)
    }
  }

  /// Finishes some details.
  private func finish(_ number: Int = 1, _ count: (inout SyncReport.Details) -> Void) {
    let failed = state.withLock { state in
      let before = state.tally.failed
      count(&state.tally)
      return state.tally.failed - before
    }
    context.progress.update {
      $0.details.done += number
      $0.failed += failed
    }
    puller.leave(Self.line, number)
    for _ in 0..<number { group.leave() }
  }

  // MARK: - After all answers

  /// Decides about missing details and lost fields.
  ///
  /// Call it when all details are finished. If the run is killed before the end of this call, the next run requests the
  /// details in question again.
  func judge() {
    context.failures.noting { () throws(LarderError) in
      try judgeMissing()
      if !context.hasStopped() { try judgeFields() }
      try finishShared()
    }
  }

  /// Decides about the details that were in the cache and are missing now.
  ///
  /// If too many details are missing at once, that looks like a fault of the shop. Their items keep them, and the next
  /// run decides again.
  private func judgeMissing() throws(LarderError) {
    let state = state.withLock { $0 }
    let tally = state.tally
    // If all details are missing and none was in the cache, this is probably a first sync with a wrong URL.
    if tally.total >= 3, tally.missing == tally.total, state.known == 0 {
      context.failures.note(
        .detail,
        id: nil,
        needs.rule.urlTemplate,
        for: .detailsMissing,
        attempts: tally.total,
        "cannot read any of \(tally.total) details: the shop answers that they do not exist; correct "
          + "detail.url in the catalog file, or remove detail"
      )
    }
    guard !ShrinkGuard.isSuspicious(details: state.held, missing: state.vanished.count) else {
      return self.state.withLock { $0.tally.withheld = state.vanished.sorted() }
    }
    try context.index.noteMissing(state.vanished, of: context.entry.id)
  }

  /// Decides about the details that lost fields, which are set aside: shows all of them, or none.
  ///
  /// If the catalog file gives a path for a field that no detail has, this function reports a failure.
  private func judgeFields() throws(LarderError) {
    var last = ""
    let verdict = try fields.judge { () throws(LarderError) in
      try due.held(after: &last, count: Self.window)
    }
    if verdict.lost.isEmpty {
      try showAside()
    } else {
      let rows = try due.asideRows()
      addPictures(.details(rows))
      let names = verdict.lost.map(\.name)
      let paths = verdict.lost.flatMap(\.paths)
      let finding = GuardMessage.lost(names, paths, details: rows.count)
      state.withLock {
        $0.tally.kept = names
        $0.tally.error = finding.problem
        $0.tally.remedy = finding.remedy
      }
    }
    for field in verdict.absent {
      let paths = field.paths.map(\.description)
      context.failures.note(
        .detail,
        id: nil,
        needs.rule.urlTemplate,
        for: .fieldMissing,
        "cannot read \(field.name): no detail has a value at "
          + "\(paths.joined(separator: ", ")); correct the path in the catalog file, or remove it"
      )
    }
  }

  /// Shows the details that are set aside.
  private func showAside() throws(LarderError) {
    while case let details = try due.takeAside(Self.window), !details.isEmpty {
      let documents = try context.index.documents(details.map(\.document))
      let shown = details.compactMap { detail in
        documents[detail.document].map { document in
          var (detail, document) = (detail, document)
          detail.pictures = detail.decoded?.images.map { PictureID(url: $0.url) }
          if !needs.rule.isShared { document.mapping = needs.mapping }
          return CommittedDetail(detail, of: context.entry.id, from: document)
        }
      }
      try context.index.store(shown)
      state.withLock { $0.tally.changed += shown.count }
      for detail in shown.compactMap(\.detail) {
        noteLost(detail)
        addPictures(.pictures(detail.pictures ?? []), isChanged: true)
      }
    }
  }

  /// Finishes the document with the details of all items, if there is one.
  ///
  /// Writes the details of items that no section lists yet. If such an item is listed later, it is possible that the
  /// server does not send the document again, because the document is unchanged.
  ///
  /// If details are left aside, the document is requested in full again.
  private func finishShared() throws(LarderError) {
    switch state.withLock(\.answer) {
    case .decoded(let details, _, let document, let base):
      let unlisted = try due.unwanted(details.keys.map(\.text))
      let rows = unlisted.lazy.compactMap { details[$0.exact] }.map { [context] in
        let row = document.unvouched
        let (entry, shown) = context.row(of: $0, row, base: base)
        return CommittedDetail(entry, of: context.entry.id, from: row, showing: shown)
      }
      try context.index.store(rows)
      if try due.asideRows().isEmpty { try context.index.renew(document) }
    case .unchanged(let document):
      try context.index.renew(document)
    case .failed, nil:
      break
    }
  }
}

extension LostField {
  /// The message for a detail that fails because of this field.
  fileprivate func words(of item: String) -> String {
    "cannot read detail \(item): " + (field.map { "\($0): " } ?? "") + reason
  }
}

extension RunContext {
  /// Makes the row of a detail that was just decoded, and resolves its references to pictures.
  func row(
    of detail: ItemDetail,
    _ document: DocumentEntry,
    base: WebURL?
  ) -> (entry: DetailEntry, pictures: [PictureAddress]) {
    var detail = detail
    // A detail is JSON, never an HTML page.
    let pictures = addresses(of: detail.images, base: localBase ?? base)
    detail.images.resolve(pictures)
    let entry = DetailEntry(
      item: detail.id,
      document: document.id,
      state: .held,
      body: detail.encoded(),
      pictures: pictures.map(\.id)
    )
    return (entry, pictures)
  }
}

extension DocumentEntry {
  /// The row as long as the guards do not accept everything in the document.
  ///
  /// No rules for decoding have this number, so the next run requests the document in full.
  fileprivate var unvouched: DocumentEntry {
    var document = self
    document.mapping = 0
    return document
  }
}

extension DetailEntry {
  /// Whether the shop still has the detail, as far as is known.
  var isCurrent: Bool { state == .held && since == nil }
}
