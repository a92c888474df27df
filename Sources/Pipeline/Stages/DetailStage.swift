import Cache
import Catalog
import Dispatch
import Synchronization
import Transport

/// Brings the details of all items up to date, each item once, and hands on their pictures.
final class DetailStage: Sendable {
  /// Entered once an item whose detail needs a request, left when that is kept or has failed.
  let group = WorkGroup()

  struct State {
    var known: [String: DetailEntry]
    var seen: Set<String> = []
    var tally = SyncReport.Details()
    var lost: [String: [LostField]] = [:]
    /// What was held and the origin has no more, as it is kept until all details have answered.
    var vanished: [String: (detail: DetailEntry, document: DocumentEntry)] = [:]
    /// The items whose details came anew or are as they were.
    var answered: Set<String> = []
    /// What details that came anew have and lost.
    var fields = DetailFields()
    var line: WorkLine<String>?
  }

  let context: RunContext
  let rule: DetailRule
  private let pictures: PictureStage?
  private let target: @Sendable (String) throws(TransferFailure) -> DocumentSource
  private let mapping: Int64
  private let shared = SharedDetails()
  let state: Mutex<State>

  /// How many details are asked for at once.
  private static let window = 64

  /// A stage for the items of one catalog; `target` turns the catalog's text into a source.
  ///
  /// Without `pictures`, those of the details are not fetched. `order` says which of two items that
  /// wait goes first.
  init(
    _ context: RunContext,
    rule: DetailRule,
    known: [String: DetailEntry],
    pictures: PictureStage?,
    order: (@Sendable (String, String) -> Bool)? = nil,
    target: @escaping @Sendable (String) throws(TransferFailure) -> DocumentSource
  ) {
    self.context = context
    self.rule = rule
    self.pictures = pictures
    self.target = target
    self.mapping = context.catalog.detailDigest
    state = Mutex(State(known: known))
    let line = WorkLine<String>(limit: Self.window, queue: context.starts, order: order) {
      [weak self] batch in
      for id in batch { self?.fetch(id) }
    }
    state.withLock { $0.line = line }
  }

  /// What was done so far.
  var tally: SyncReport.Details { state.withLock { $0.tally } }
  /// The fields that details have and that could not be read, by item.
  var lost: [String: [LostField]] { state.withLock { $0.lost } }
  /// The items whose details this run asked for.
  var seen: Set<String> { state.withLock { $0.seen } }

  /// Adds the items of a listing.
  func add(_ ids: [String]) {
    let (new, line) = state.withLock { state in
      let new = ids.filter { state.seen.insert($0).inserted }
      state.tally.total += new.count
      return (new, state.line)
    }
    for _ in new { group.enter() }  // Left in finish(_:), the only way out of a detail.
    context.progress.update { $0.details.total += new.count }
    line?.add(new)
  }

  private func fetch(_ id: String) {
    let source: DocumentSource
    do throws(TransferFailure) {
      source = try target(try rule.address(of: id))
    } catch {
      context.failures.note(.detail, id: id, error)
      return finish { $0.failed += 1 }
    }
    do throws(CacheError) {
      let known = state.withLock { $0.known[id] }
      let reader = context.catalog.detailReader
      var held = try context.index.document(source.name, reader: reader)
      if held == nil, known != nil {
        held = try context.index.takeOver(source.name, reader: reader, sections: [])
      }
      if held?.mapping != mapping { held = nil }
      if rule.isShared { return ask(id, source, held) }
      if known == nil || known?.state == .failed { held = nil }
      if let held, let known, isFresh(held, known, source) { return settle(known, held) }
      let document = held
      context.store.announce(1)
      context.fetch(source, held: document, priority: .detail) { [self] reply in
        answer(reply, id: id, source: source, held: document, known: known)
        context.store.conclude()
      }
    } catch {
      context.failures.note(error)
      finish { $0.failed += 1 }
    }
  }

  /// Takes the item's part of the one document that holds all details.
  private func ask(_ id: String, _ source: DocumentSource, _ held: DocumentEntry?) {
    shared.ask {
      if context.options.onlyDue, let held,
        held.freshness(at: context.now(), for: context.traits(of: source)).isQuiet
      {
        return shared.resolve(.unchanged(held))
      }
      context.store.announce(1)
      context.fetch(source, held: held, priority: .detail) { [self] reply in
        let answer = read(reply, source, held)
        if case .decoded(let details, _, let document, let base) = answer {
          keepAll(details, document, base: base)
        }
        shared.resolve(answer)
        context.store.conclude()
      }
    } completion: { [self] answer in
      let known = state.withLock { $0.known[id] }
      switch answer {
      case .decoded(let details, let unreadable, let document, let base):
        if let detail = details[id] { return keep(detail, from: source, document, base: base) }
        if let reason = unreadable[id] { return fail(id, known, source, reason) }
        keepMissing(id, document)
      case .unchanged(let document):
        guard let known, known.state == .held, known.since == nil else {
          return keepMissing(id, document)
        }
        if refuses(known, source) { return }
        add(picturesOf: known)
        keep(known, document) { $0.unchanged += 1 }
      case .failed:
        if let known, known.state == .held { add(picturesOf: known) }
        finish { $0.failed += 1 }
      }
    }
  }

  private func read(
    _ reply: DocumentReply,
    _ source: DocumentSource,
    _ held: DocumentEntry?
  ) -> SharedDetails.Answer {
    switch reply {
    case .failed(let failure):
      let traits = context.traits(of: source)
      if let held, held.excuses(failure, at: context.now(), for: traits) {
        context.failures.count(attempts: failure.attempts)
        return .unchanged(held)
      }
      context.failures.note(.detail, id: nil, failure)
      return .failed
    case .unchanged(let word):
      guard var document = held else { return .failed }
      document.response = word.text
      document.expiry = word.expiry
      return .unchanged(document)
    case .body(let body, let base, let word):
      var document = entry(source, body, word)
      if let held, held.digest == document.digest, held.came(from: base) {
        return .unchanged(document)
      }
      do throws(CatalogError) {
        let decoded = try decodeDetails(body, using: context.catalog)
        // What could not be read is read again in every run, and told again.
        if !decoded.unreadable.isEmpty {
          document = DocumentEntry(url: source.name, mapping: mapping, fetched: document.fetched)
        }
        var unreadable: [String: String] = [:]
        for detail in decoded.unreadable {
          if let id = detail.id {
            unreadable[id] = detail.reason
          } else {
            let words = "cannot read detail number \(detail.index): \(detail.reason)"
            context.failures.note(undecodable: .detail, id: nil, source, words)
          }
        }
        return .decoded(
          Dictionary(decoded.details.map { ($0.id, $0) }) { $1 },
          unreadable: unreadable,
          document,
          base: base ?? source.base
        )
      } catch {
        context.failures.note(undecodable: .detail, id: nil, source, error.description)
        return .failed
      }
    }
  }

  /// Keeps the details of items that nobody lists yet: when one is listed later, the document may be
  /// unchanged, and is then not sent again.
  private func keepAll(_ details: [String: ItemDetail], _ document: DocumentEntry, base: WebURL?) {
    let listed = seen
    for (id, detail) in details where !listed.contains(id) {
      let entry = entry(of: detail, document, base: base).entry
      context.store.commit(entry, catalog: context.entry.id, document: document) {}
    }
  }

  private func entry(
    _ source: DocumentSource,
    _ body: [UInt8],
    _ word: StoredValidity
  ) -> DocumentEntry {
    DocumentEntry(
      url: source.name,
      reader: context.catalog.detailReader,
      mapping: mapping,
      response: word.text,
      expiry: word.expiry,
      digest: ContentDigest.number(of: body),
      fetched: context.now().seconds
    )
  }

  private func answer(
    _ reply: DocumentReply,
    id: String,
    source: DocumentSource,
    held: DocumentEntry?,
    known: DetailEntry?
  ) {
    switch reply {
    case .failed(let failure)
    where failure.status == 404 || failure.status == 410
      || failure.reason == .http(404):
      context.failures.count(attempts: failure.attempts)
      var document = DocumentEntry(
        url: source.name,
        reader: context.catalog.detailReader,
        mapping: mapping
      )
      document.fetched = context.now().seconds
      document.expiry = failure.wordEnd(at: context.now()) ?? 0
      keepMissing(id, document)

    case .failed(let failure):
      let traits = context.traits(of: source)
      if let held, let known, held.excuses(failure, at: context.now(), for: traits) {
        context.failures.count(attempts: failure.attempts)
        return settle(known, held)
      }
      context.failures.note(.detail, id: id, failure)
      // What was had before still shows, and its pictures may be due.
      if let known, known.state == .held { add(picturesOf: known) }
      finish { if !failure.endedWithRun { $0.failed += 1 } }

    case .unchanged(let word):
      guard var document = held, let known else { return finish { $0.failed += 1 } }
      document.response = word.text
      document.expiry = word.expiry
      if refuses(known, source) { return }
      if known.state == .held { add(picturesOf: known) }
      keep(known, document) { Self.count(known, in: &$0) }

    case .body(let body, let base, let word):
      let document = entry(source, body, word)
      if let known, known.state == .held, known.since == nil, let held,
        held.digest == document.digest, held.came(from: base)
      {
        if refuses(known, source) { return }
        add(picturesOf: known)
        return keep(known, document) { $0.unchanged += 1 }
      }
      do throws(CatalogError) {
        let detail = try decodeDetail(body, id: id, using: context.catalog)
        keep(detail, from: source, document, base: base ?? source.base)
      } catch {
        guard error.code != .absentDetail else {
          return keepMissing(id, document)
        }
        fail(id, known, source, error.description)
      }
    }
  }

  /// A detail that came and cannot be read: what was had before still shows, and its pictures may be
  /// due.
  private func fail(_ id: String, _ known: DetailEntry?, _ source: DocumentSource, _ why: String) {
    context.failures.note(undecodable: .detail, id: id, source, why)
    if let known, known.state == .held { add(picturesOf: known) }
    finish { $0.failed += 1 }
  }

  /// Under `--strict`, one field that could not be read fails its detail.
  private func refuses(_ known: DetailEntry, _ source: DocumentSource) -> Bool {
    guard context.options.strict, let body = known.body,
      let bad = ItemDetail.lostFields(in: body).first
    else { return false }
    fail(known.item, known, source, bad.words(of: known.item))
    return true
  }

  /// Hands on the pictures of a detail that was just decoded, and keeps it.
  private func keep(
    _ detail: ItemDetail,
    from source: DocumentSource,
    _ document: DocumentEntry,
    base: WebURL?
  ) {
    if context.options.strict, let bad = detail.lost?.first {
      let known = state.withLock { $0.known[detail.id] }
      return fail(detail.id, known, source, bad.words(of: detail.id))
    }
    let (entry, references) = entry(of: detail, document, base: base)
    pictures?.add(references)
    let (kept, word) = guarded(detail, entry, document)
    keep(kept, word) { $0.fetched += 1 }
  }

  /// A detail that needs no question.
  private func settle(_ known: DetailEntry, _ document: DocumentEntry) {
    if known.state == .missing, known.body != nil { return keepMissing(known.item, document) }
    if known.state == .held { add(picturesOf: known) }
    noteLost(known)
    noteAnswer(known)
    finish { Self.count(known, in: &$0) }
  }

  private static func count(_ known: DetailEntry, in tally: inout SyncReport.Details) {
    if known.state == .missing { tally.missing += 1 } else { tally.unchanged += 1 }
  }

  private func add(picturesOf known: DetailEntry) {
    do throws(CacheError) {
      try pictures?.add(known.pictures) { () throws(CacheError) in
        guard let body = known.body, let detail = try? ItemDetail(decoding: body) else {
          return [:]
        }
        return Dictionary(detail.images.map { (PictureID(url: $0.url), $0.url) }) { $1 }
      }
    } catch {
      context.failures.note(error)
    }
  }

  /// Keeps a detail's row, and ends the detail once that is durable.
  func keep(
    _ detail: DetailEntry,
    _ document: DocumentEntry,
    _ count: @escaping @Sendable (inout SyncReport.Details) -> Void
  ) {
    noteLost(detail)
    noteAnswer(detail)
    context.store.commit(detail, catalog: context.entry.id, document: document) { [self] in
      finish(count)
    }
  }

  private func finish(_ count: (inout SyncReport.Details) -> Void) {
    let (line, failed) = state.withLock { state in
      let before = state.tally.failed
      count(&state.tally)
      return (state.line, state.tally.failed - before)
    }
    context.progress.update {
      $0.details.done += 1
      $0.failed += failed
    }
    line?.leave()
    group.leave()
  }
}

extension LostField {
  /// Why a detail is refused for it.
  fileprivate func words(of item: String) -> String {
    "cannot read detail \(item): " + (field.map { "\($0): " } ?? "") + reason
  }
}
