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
  /// It is entered once for each item, and left when the item's detail is on disk or has failed.
  let group = WorkGroup()

  private struct Work {
    var seen: Set<String> = []
    var tally = SyncReport.Details()
    var lost: [String: [LostField]] = [:]
    var line: LimitedQueue<String>?
    /// The values for the placeholders other than `{id}` in the URLs of details, by item.
    var fields: [String: [String: String]] = [:]
  }

  private let context: RunContext
  private let rule: DetailRule
  private let known: [String: DetailEntry]
  private let pictures: PictureStage?
  private let addresses: CatalogAddresses
  private let mapping: Int64
  private let shared: SharedDetails
  private let fields: LostDetailFields
  private let vanished = VanishedDetails()
  private let state = Mutex(Work())

  /// The maximum number of details in progress.
  private static let window = 64

  /// Makes the stage for the items of one catalog.
  ///
  /// - Parameters:
  ///   - context: The values that all stages of the run share.
  ///   - rule: The catalog file's rule for the URLs of details.
  ///   - addresses: Translates the addresses in the catalog file into URLs and paths of files.
  ///   - known: The details that the last run left in the cache, by the ids of their items.
  ///   - pictures: The stage that fetches the pictures of details; nil if this run does not fetch them.
  ///   - order: Returns whether the detail of its first argument is requested before that of its second. Pass nil to
  ///     request details in the order in which their items were added.
  init(
    _ context: RunContext,
    rule: DetailRule,
    _ addresses: CatalogAddresses,
    known: [String: DetailEntry],
    pictures: PictureStage?,
    order: (@Sendable (String, String) -> Bool)?
  ) {
    self.context = context
    self.rule = rule
    self.known = known
    self.pictures = pictures
    self.addresses = addresses
    mapping = context.catalog.detailDigest
    shared = SharedDetails(context)
    fields = LostDetailFields(
      context.catalog.mapping.detail,
      known: known,
      isShared: rule.isShared,
      allowsRemovals: context.options.allowRemovals
    )
    let line = LimitedQueue<String>(limit: Self.window, queue: context.starts, order: order) {
      [weak self] batch in self?.start(batch)
    }
    state.withLock { $0.line = line }
  }

  /// The counts of details so far.
  var tally: SyncReport.Details { state.withLock { $0.tally } }
  /// The unreadable fields of each item's detail, by the item's id.
  var lost: [String: [LostField]] { state.withLock { $0.lost } }

  /// Adds the items of a section.
  ///
  /// The index stores them as a listing.
  func add(_ listing: ListingID) throws(LarderError) {
    let subjects = try context.index.detailSubjects(of: listing, for: rule)
    let (new, line) = state.withLock { state in
      let added = subjects.filter { state.seen.insert($0.id).inserted }
      for subject in added { state.fields[subject.id] = subject.fields }
      let new = added.map(\.id)
      state.tally.total += new.count
      return (new, state.line)
    }
    for _ in new { group.enter() }  // Left in finish(_:), which ends every detail.
    context.progress.update { $0.details.total += new.count }
    line?.add(new)
  }

  // MARK: - Requests

  /// Starts a batch of details.
  ///
  /// Looks up the cached ones, keeps those that are fresh, and requests the rest.
  private func start(_ ids: [String]) {
    let fields = state.withLock { state in ids.map { state.fields[$0] } }
    var items: [String] = []
    var sources: [DocumentSource] = []
    for (id, fields) in zip(ids, fields) {
      do throws(TransferFailure) {
        sources.append(try addresses.detail(of: id, fields, by: rule))
        items.append(id)
      } catch {
        context.failures.note(.detail, id: id, error)
        finish { $0.failed += 1 }
      }
    }
    let requests: [DocumentRequest]
    do throws(LarderError) {
      requests = try context.requests(
        for: sources,
        reader: context.catalog.detailReader,
        mapping: mapping
      )
    } catch {
      context.failures.note(error)
      return finish(items.count) { $0.failed += items.count }
    }
    if rule.isShared {
      for (id, request) in zip(items, requests) { askShared(id, request) }
      return
    }
    let (needs, now) = (context.needs, context.now())
    var fresh: [(known: DetailEntry, document: DocumentEntry)] = []
    for (id, request) in zip(items, requests) {
      let known = known[id]
      var request = request
      if known == nil || known?.state == .failed { request.held = nil }
      request.isDecoded = known?.isCurrent ?? false
      let need = needs.need(ofDetail: known, in: request.held, request.source, at: now)
      if need.isQuiet, let held = request.held, let known {
        fresh.append((known, held))
      } else {
        ask(id, request)
      }
    }
    show(fresh)
  }

  private func ask(_ id: String, _ request: DocumentRequest) {
    context.store.announce(1)
    context.fetch(request, priority: .detail) { [self] outcome in
      answer(outcome, id, request)
      context.store.conclude()
    }
  }

  private func answer(_ outcome: DocumentOutcome, _ id: String, _ request: DocumentRequest) {
    let known = known[id]
    switch outcome {
    case .stands(let document):
      guard let known else { return finish { $0.failed += 1 } }
      confirm(known, document, request.source)
    case .excused(let document, let failure):
      guard let known else { return fail(id, failure) }
      show([(known, document)])
    case .new(let body, let base, let document):
      do throws(CatalogError) {
        let detail = try body.decoded { body throws(CatalogError) in
          try decodeDetail(body, id: id, using: context.catalog)
        }
        take(detail, from: request.source, document, base: base)
      } catch {
        guard error.code != .absentDetail else { return takeMissing(id, document) }
        refuse(id, request.source, error.description)
      }
    case .failed(let failure) where failure.saysThereIsNone:
      context.failures.count(attempts: failure.attempts)
      let now = context.now()
      var document = request.row
      document.fetched = now
      document.expiry = failure.refusalExpiry(at: now) ?? 0
      takeMissing(id, document)
    case .failed(let failure):
      fail(id, failure)
    }
  }

  /// Takes an item's detail from the document that has the details of all items.
  private func askShared(_ id: String, _ request: DocumentRequest) {
    shared.ask(request) { [self] body in
      writeUnlisted(body)
    } completion: { [self] answer in
      switch answer {
      case .decoded(let body):
        if let detail = body.details[id] {
          take(detail, from: request.source, body.document, base: body.base)
        } else if let reason = body.unreadable[id] {
          refuse(id, request.source, reason)
        } else {
          takeMissing(id, body.document)
        }
      case .unchanged(let document):
        guard let known = known[id], known.isCurrent else { return takeMissing(id, document) }
        confirm(known, document, request.source)
      case .failed:
        addPictures(of: [known[id]])
        finish { $0.failed += 1 }
      }
    }
  }

  /// Writes the details of items that no section lists yet.
  ///
  /// If such an item is listed later, it is possible that the server does not send the document again, because the
  /// document is unchanged.
  private func writeUnlisted(_ body: SharedDetails.Body) {
    let listed = state.withLock { $0.seen }
    for (id, detail) in body.details where !listed.contains(id) {
      let (entry, pictures) = context.row(of: detail, body.document, base: body.base)
      context.commit(entry, body.document, showing: pictures)
    }
  }

  // MARK: - Outcome of a detail

  /// Handles a detail that was just decoded.
  ///
  /// Writes its row, and then passes on its pictures.
  private func take(
    _ detail: ItemDetail,
    from source: DocumentSource,
    _ document: DocumentEntry,
    base: WebURL?
  ) {
    if context.options.strict, let bad = detail.lost?.first {
      return refuse(detail.id, source, bad.words(of: detail.id))
    }
    let (entry, shown) = context.row(of: detail, document, base: base)
    let (row, vouched) = fields.admit(detail, entry, document)
    note(row)
    context.commit(row, vouched, showing: shown) { [self] in
      // The rows of the pictures are missing if the commit failed, and then the run ends.
      if context.store.failure == nil { add(shown.map(\.id), isChanged: true) }
      finish { $0.fetched += 1 }
    }
  }

  private func confirm(_ known: DetailEntry, _ document: DocumentEntry, _ source: DocumentSource) {
    // With `--strict`, a detail fails if one of its fields could not be read.
    if context.options.strict, let body = known.body,
      let bad = ItemDetail.lostFields(in: body).first
    {
      return refuse(known.item, source, bad.words(of: known.item))
    }
    addPictures(of: [known])
    write(known, document) { Self.count(known, in: &$0) }
  }

  /// Keeps cached details that need no request.
  private func show(_ details: [(known: DetailEntry, document: DocumentEntry)]) {
    var shown: [DetailEntry] = []
    for (known, document) in details {
      if known.state == .missing, known.body != nil {
        takeMissing(known.item, document)
      } else {
        shown.append(known)
      }
    }
    guard !shown.isEmpty else { return }
    addPictures(of: shown)
    for known in shown { note(known) }
    finish(shown.count) { tally in for known in shown { Self.count(known, in: &tally) } }
  }

  /// Handles a detail that the shop does not have.
  ///
  /// If the cache has an earlier version, that version is kept until the user allows its removal. Its row has the time
  /// since which the detail is missing. Its pictures are kept too, but not requested, because the shop has probably
  /// removed them with the detail.
  private func takeMissing(_ id: String, _ document: DocumentEntry) {
    guard var detail = known[id], detail.body != nil, !context.options.allowRemovals else {
      return write(DetailEntry(item: id, document: document.id, state: .missing), document) {
        $0.missing += 1
      }
    }
    detail.document = document.id
    detail.since = detail.since ?? context.now()
    if detail.state == .held { vanished.note(detail, document) }
    write(detail, document) {
      $0.missing += 1
      $0.stale += 1
    }
  }

  /// Handles a detail that could not be fetched.
  ///
  /// The cached version is kept, and its pictures are brought up to date.
  private func fail(_ id: String, _ failure: TransferFailure) {
    context.failures.note(.detail, id: id, failure)
    addPictures(of: [known[id]])
    finish { if !failure.endedWithRun { $0.failed += 1 } }
  }

  /// Handles a detail that was received but cannot be read.
  ///
  /// The cached version is kept, and its pictures are brought up to date.
  private func refuse(_ id: String, _ source: DocumentSource, _ why: String) {
    let words = context.secrets.applied(to: why)
    context.failures.note(undecodable: .detail, id: id, source, words)
    addPictures(of: [known[id]])
    finish { $0.failed += 1 }
  }

  /// Writes a detail's row, and finishes the detail when the row is on disk.
  private func write(
    _ detail: DetailEntry,
    _ document: DocumentEntry,
    _ count: @escaping @Sendable (inout SyncReport.Details) -> Void
  ) {
    note(detail)
    context.commit(detail, document) { [self] in finish(1, count) }
  }

  /// Records which detail an item has from now on.
  private func note(_ detail: DetailEntry) {
    let lost = detail.body.map(ItemDetail.lostFields) ?? []
    if !lost.isEmpty { state.withLock { $0.lost[detail.item] = lost } }
    fields.noteAnswer(detail)
  }

  private static func count(_ known: DetailEntry, in tally: inout SyncReport.Details) {
    if known.state == .missing { tally.missing += 1 } else { tally.unchanged += 1 }
  }

  private func addPictures(of known: [DetailEntry?]) {
    let held = known.compactMap(\.self).filter { $0.state == .held }
    add(held.flatMap(\.pictures), isChanged: false)
  }

  private func add(_ ids: [PictureID], isChanged: Bool) {
    do throws(LarderError) {
      if !ids.isEmpty { try pictures?.add(ids, isChanged: isChanged) }
    } catch {
      context.failures.note(error)
    }
  }

  /// Finishes some details.
  private func finish(_ number: Int = 1, _ count: (inout SyncReport.Details) -> Void) {
    let (line, failed) = state.withLock { state in
      let before = state.tally.failed
      count(&state.tally)
      return (state.line, state.tally.failed - before)
    }
    context.progress.update {
      $0.details.done += number
      $0.failed += failed
    }
    line?.leave(number)
    for _ in 0..<number { group.leave() }
  }

  // MARK: - After all answers

  /// Decides about the details that were in the cache and are missing now; see ``VanishedDetails``.
  ///
  /// Call it when all details are finished. If the run is killed before this call, the next run requests these details
  /// again.
  func judgeMissing() {
    let (seen, tally) = state.withLock { ($0.seen, $0.tally) }
    // If all details are missing and none was in the cache, this is probably a first sync with a wrong URL.
    if tally.total >= 3, tally.missing == tally.total, !known.keys.contains(where: seen.contains) {
      context.failures.note(
        SyncReport.Failure(
          stage: .detail,
          id: nil,
          url: rule.urlTemplate,
          reason: FailureReason.detailsMissing.rawValue,
          attempts: tally.total,
          detail:
            "cannot read any of \(tally.total) details: the shop answers that they do not exist; correct "
            + "detail.url in the catalog file, or remove detail"
        )
      )
    }
    switch vanished.judge(held: known.values.count { $0.state == .held && seen.contains($0.item) })
    {
    case .withheld(let items): state.withLock { $0.tally.withheld = items }
    case .gone(let rows): for row in rows { context.commit(row.detail, row.document) }
    }
  }

  /// Decides about the fields that details lost; see ``LostDetailFields``.
  ///
  /// If the catalog file gives a path for a field that no detail has, this function reports a failure.
  func judgeFields() {
    guard let mapping = context.catalog.mapping.detail else { return }
    let verdict = fields.judge()
    for row in verdict.rows { context.commit(row.detail, row.document) }
    if !verdict.kept.isEmpty {
      let names = verdict.kept.map(\.name)
      let paths = verdict.kept.flatMap { mapping.paths(of: $0) }
      let finding = GuardMessage.lost(names, paths, details: verdict.losers)
      state.withLock {
        $0.tally.kept = names
        $0.tally.error = finding.problem
        $0.tally.remedy = finding.remedy
      }
    }
    for field in verdict.absent {
      let paths = mapping.paths(of: field).map(\.description)
      context.failures.note(
        SyncReport.Failure(
          stage: .detail,
          id: nil,
          url: rule.urlTemplate,
          reason: FailureReason.fieldMissing.rawValue,
          attempts: 1,
          detail: "cannot read \(field.name): no detail has a value at "
            + "\(paths.joined(separator: ", ")); correct the path in the catalog file, or remove it"
        )
      )
    }
  }
}

extension FailureReason {
  /// The reason for a first sync of three or more details that found none of them.
  static let detailsMissing = FailureReason(rawValue: "details-missing")
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
    let pictures = references(to: detail.images, base: localBase ?? base).map(\.address)
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

  /// Writes the rows of a detail and its document in the next transaction of the store.
  ///
  /// `pictures` are those of a detail that was just decoded. `completion` is called when the rows are on disk.
  func commit(
    _ detail: DetailEntry,
    _ document: DocumentEntry,
    showing pictures: [PictureAddress] = [],
    completion: @escaping @Sendable () -> Void = {}
  ) {
    store.commit(
      detail,
      catalog: entry.id,
      document: document,
      showing: pictures,
      completion: completion
    )
  }
}

extension DetailEntry {
  /// Whether the shop still has the detail, as far as is known.
  var isCurrent: Bool { state == .held && since == nil }
}
