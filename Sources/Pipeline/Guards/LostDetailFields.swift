import Cache
import Catalog
import Synchronization

/// Collects the fields that newly fetched details lost, and judges the losses once every request for a detail is
/// answered.
///
/// If all details lose a field at once, this looks like a fault, and the field is kept. Every later run decides
/// again, until the origin sends the field or the user allows its removal. A field that only some details lost is
/// removed.
final class LostDetailFields: Sendable {
  /// The decision about the losses.
  struct Decision: Sendable {
    /// The fields whose old values are kept.
    var kept: [DetailField] = []
    /// The number of details that lost at least one of the kept fields.
    var losers = 0
    /// The rows to write instead of those that ``admit(_:_:_:)`` returned.
    var rows: [(detail: DetailEntry, document: DocumentEntry)] = []
    /// The fields that the catalog file names but no detail has.
    var absent: [DetailField] = []
  }

  /// A detail that lost fields; its row keeps them until every request for a detail is answered.
  private struct Stripped {
    /// The row as received, without the lost fields.
    var entry: DetailEntry
    var document: DocumentEntry
    /// The lost fields.
    var fields: [DetailField]
  }

  private struct Findings {
    /// The items whose details were fetched or are unchanged.
    var answered: Set<String> = []
    /// The items whose details were fetched.
    var came: Set<String> = []
    /// The fields that any fetched detail has, empty lists included.
    var present: Set<DetailField> = []
    /// The fields in which any fetched detail has a value.
    var held: Set<DetailField> = []
    /// The details that lost fields, by item.
    var stripped: [String: Stripped] = [:]
  }

  private let mapping: Mapping.Detail?
  private let known: [String: DetailEntry]
  private let isShared: Bool
  private let allowsRemovals: Bool
  private let state = Mutex(Findings())

  /// Makes the guard for the details of one catalog.
  ///
  /// - Parameters:
  ///   - mapping: The mapping of details; nil when there is none.
  ///   - known: The details as the last run left them, by item.
  ///   - isShared: Whether one document has all details, so that they share its row.
  ///   - allowsRemovals: Whether lost fields are removed in any case.
  init(
    _ mapping: Mapping.Detail?,
    known: [String: DetailEntry],
    isShared: Bool,
    allowsRemovals: Bool
  ) {
    self.mapping = mapping
    self.known = known
    self.isShared = isShared
    self.allowsRemovals = allowsRemovals
  }

  /// Records that a detail was fetched or is unchanged.
  func noteAnswer(_ detail: DetailEntry) {
    guard detail.isCurrent else { return }
    state.withLock { _ = $0.answered.insert(detail.item) }
  }

  /// The preliminary rows to write for a fetched detail, while requests for other details are still unanswered.
  ///
  /// If the detail lost fields, its row keeps them. Its document then has no validators and no expiry, so that the
  /// next run fetches the document again if this run is killed. Pictures that the detail lost are not requested,
  /// because they are probably gone.
  ///
  /// - Parameters:
  ///   - detail: The decoded detail.
  ///   - entry: Its row.
  ///   - document: The row of its document.
  /// - Returns: The rows to write.
  func admit(
    _ detail: ItemDetail,
    _ entry: DetailEntry,
    _ document: DocumentEntry
  ) -> (DetailEntry, DocumentEntry) {
    let fields = mapping?.fields ?? []
    let held = fields.filter { $0.isHeld(by: detail) }
    let empty = fields.filter { detail.empty?.contains($0.name) == true }
    state.withLock { state in
      state.came.insert(detail.id)
      state.held.formUnion(held)
      state.present.formUnion(held + empty)
    }
    guard held.count < fields.count, !allowsRemovals, let old = known[detail.id]?.decoded else {
      return (entry, document)
    }
    let lost = fields.filter { $0.isHeld(by: old) && !held.contains($0) }
    guard !lost.isEmpty, let merged = entry.keeping(lost, of: old) else {
      return (entry, document)
    }
    let stripped = Stripped(entry: entry, document: document, fields: lost)
    state.withLock { $0.stripped[detail.id] = stripped }
    return (merged, document.withoutValidators)
  }

  /// Judges the losses, once every request for a detail is answered.
  ///
  /// This is not called in a run that was stopped early, because such a run has not seen all answers. The next run
  /// fetches these details again.
  func judge() -> Decision {
    guard let mapping else { return Decision() }
    let state = state.withLock { $0 }
    let suspects = mapping.fields.filter { field in
      state.stripped.values.contains { $0.fields.contains(field) }
    }
    let kept = lost(among: suspects, state)
    return Decision(
      kept: kept,
      losers: state.stripped.values.count { $0.fields.contains { kept.contains($0) } },
      rows: state.stripped.compactMap { row(of: $0, $1, keeping: kept) },
      absent: absent(mapping, state)
    )
  }

  /// The fields among `suspects` whose loss looks like a fault, in the order of `suspects`.
  private func lost(among suspects: [DetailField], _ state: Findings) -> [DetailField] {
    guard !suspects.isEmpty else { return [] }
    var evidence = [DetailField: DetailGuard.Evidence]()
    for id in state.answered {
      guard let old = known[id]?.decoded else { continue }
      let isNew = state.came.contains(id)
      for field in suspects {
        let had = field.isHeld(by: old) ? 1 : 0
        evidence[field, default: .init()].held += 1
        evidence[field]?.had += had
        if isNew {
          evidence[field]?.came += 1
          evidence[field]?.cameWith += had
        } else if had > 0 {
          evidence[field]?.isLeft = true
        }
      }
    }
    return suspects.filter { field in
      guard var evidence = evidence[field] else { return false }
      evidence.isInNew = state.held.contains(field)
      evidence.isLeft = evidence.isLeft || evidence.isInNew
      return DetailGuard.isLost(evidence)
    }
  }

  /// The final rows of a detail that lost fields: as received, but with the fields to keep.
  ///
  /// Nil when these rows are already written.
  private func row(
    of id: String,
    _ stripped: Stripped,
    keeping lost: [DetailField]
  ) -> (detail: DetailEntry, document: DocumentEntry)? {
    let kept = stripped.fields.filter { lost.contains($0) }
    guard kept != stripped.fields || isShared else { return nil }
    let old = kept.isEmpty ? nil : known[id]?.decoded
    let merged = old.flatMap { stripped.entry.keeping(kept, of: $0) }
    // A shared document's row has validators only if no item keeps a lost field.
    let hasValidators = isShared ? lost.isEmpty : kept.isEmpty
    return (
      merged ?? stripped.entry,
      hasValidators ? stripped.document : stripped.document.withoutValidators
    )
  }

  /// The fields that the catalog file names but no detail has, in the order of the mapping.
  private func absent(_ mapping: Mapping.Detail, _ state: Findings) -> [DetailField] {
    var absent = mapping.given.subtracting(state.present)
    guard !absent.isEmpty, !state.answered.isEmpty else { return [] }
    for id in state.answered where !absent.isEmpty && !state.came.contains(id) {
      guard let detail = known[id]?.decoded else { continue }
      absent = absent.filter { field in
        !field.isHeld(by: detail) && detail.empty?.contains(field.name) != true
      }
    }
    return mapping.fields.filter { absent.contains($0) }
  }
}

extension DetailEntry {
  /// The row with some fields of an earlier version of the detail; nil when its body cannot be read.
  fileprivate func keeping(_ fields: [DetailField], of old: ItemDetail) -> DetailEntry? {
    guard let merged = decoded?.keeping(fields, of: old) else { return nil }
    var entry = self
    entry.body = merged.encoded()
    entry.pictures = merged.images.map { PictureID(url: $0.url) }
    return entry
  }
}

extension DocumentEntry {
  /// The document without validators and expiry, so that the next run fetches it in full.
  fileprivate var withoutValidators: DocumentEntry {
    var document = self
    document.response = nil
    document.expiry = 0
    document.digest = nil
    return document
  }
}

/// Collects the cached details that their origin no longer has, and judges them once every request for a detail is
/// answered.
final class VanishedDetails: Sendable {
  /// The rows of a missing detail, to write if its removal is accepted.
  typealias Row = (detail: DetailEntry, document: DocumentEntry)

  /// The decision about all missing details.
  enum Decision: Sendable {
    /// Too many are missing at once, which looks like a fault: these items keep their details, and the next run decides
    /// again.
    case withheld([String])
    /// Only a few are missing: these rows record their removal.
    case gone([Row])
  }

  private let rows = Mutex<[String: Row]>([:])

  /// Adds a missing detail that was in the cache until now.
  func note(_ detail: DetailEntry, _ document: DocumentEntry) {
    rows.withLock { $0[detail.item] = (detail, document) }
  }

  /// Judges the missing details, once every request for a detail is answered.
  ///
  /// - Parameter held: The number of this run's details that the cache already had before the run.
  /// - Returns: The decision.
  func judge(held: Int) -> Decision {
    let rows = rows.withLock { $0 }
    guard !ShrinkGuard.isSuspicious(details: held, missing: rows.count) else {
      return .withheld(rows.keys.sorted())
    }
    return .gone(
      rows.values.map { row in
        var row = row
        row.detail.state = .missing
        return row
      }
    )
  }
}
