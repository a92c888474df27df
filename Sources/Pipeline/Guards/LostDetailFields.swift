import Cache
import Catalog
import Synchronization

/// Collects the fields that fetched details have lost, and decides about the losses when all details are finished.
///
/// A detail is the document about one item, with more data than the item has in a list of items. One document can also
/// have the details of all items.
///
/// If all details lose a field at once, that looks like a fault of the shop, and the old values of the field are kept.
/// Every later run decides again, until the shop sends the field or the user allows its removal. If only some details
/// lose a field, the loss is accepted.
final class LostDetailFields: Sendable {
  /// The decision about the losses.
  struct Decision: Sendable {
    /// The fields whose old values are kept.
    var kept: [DetailField] = []
    /// The number of details that lost at least one of the kept fields.
    var losers = 0
    /// The rows to write instead of the preliminary rows that ``admit(_:_:_:)`` returned.
    var rows: [(detail: DetailEntry, document: DocumentEntry)] = []
    /// The fields that have a path in the catalog file, but no value in any detail.
    var absent: [DetailField] = []
  }

  /// A detail that lost fields.
  ///
  /// Its preliminary row keeps the old values of these fields until all details are finished.
  private struct Stripped {
    /// The row of the detail as it was received, without the lost fields.
    var entry: DetailEntry
    var document: DocumentEntry
    /// The lost fields.
    var fields: [DetailField]
  }

  private struct Findings {
    /// The ids of items whose details were fetched or are unchanged.
    var answered: Set<String> = []
    /// The ids of items whose details were fetched.
    var came: Set<String> = []
    /// The fields that are present in any fetched detail, even if only as an empty list.
    var present: Set<DetailField> = []
    /// The fields that have a value in any fetched detail.
    var held: Set<DetailField> = []
    /// The details that lost fields, by the ids of their items.
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
  ///   - mapping: The catalog file's paths for the fields of details; nil if it gives none.
  ///   - known: The details that the last run left in the cache, by the ids of their items.
  ///   - isShared: Whether one document has the details of all items. Its row then belongs to all of them.
  ///   - allowsRemovals: Whether every loss is accepted.
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

  func noteAnswer(_ detail: DetailEntry) {
    guard detail.isCurrent else { return }
    state.withLock { _ = $0.answered.insert(detail.item) }
  }

  /// The preliminary rows of a fetched detail.
  ///
  /// They are written while other details are still being fetched.
  ///
  /// If the detail lost fields, its row keeps their old values. The row of its document then has no ETag, no
  /// Last-Modified date and no expiry, so that the next run fetches the document again if this run is killed. Pictures
  /// that the detail lost are not requested, because the shop has probably removed them.
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

  /// Decides about the losses.
  ///
  /// Call it when all details are finished.
  ///
  /// Do not call it in a run that was ended early, because such a run has not fetched all details. The next run fetches
  /// the details with losses again.
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

  /// Those fields of `suspects` whose loss looks like a fault, in the order of `suspects`.
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

  /// The final rows of a detail that lost fields.
  ///
  /// They have the detail as it was received, with the old values of the fields to keep.
  ///
  /// The result is nil if the preliminary rows are already right.
  private func row(
    of id: String,
    _ stripped: Stripped,
    keeping lost: [DetailField]
  ) -> (detail: DetailEntry, document: DocumentEntry)? {
    let kept = stripped.fields.filter { lost.contains($0) }
    guard kept != stripped.fields || isShared else { return nil }
    let old = kept.isEmpty ? nil : known[id]?.decoded
    let merged = old.flatMap { stripped.entry.keeping(kept, of: $0) }
    // The next request for a document with the details of all items can be conditional only if no item keeps a lost
    // field.
    let hasValidators = isShared ? lost.isEmpty : kept.isEmpty
    return (
      merged ?? stripped.entry,
      hasValidators ? stripped.document : stripped.document.withoutValidators
    )
  }

  /// The fields that have a path in the catalog file, but no value in any detail.
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
  /// The row with the old values of some fields; nil if the row's detail cannot be decoded.
  fileprivate func keeping(_ fields: [DetailField], of old: ItemDetail) -> DetailEntry? {
    guard let merged = decoded?.keeping(fields, of: old) else { return nil }
    var entry = self
    entry.body = merged.encoded()
    entry.pictures = merged.images.map { PictureID(url: $0.url) }
    return entry
  }
}

extension DocumentEntry {
  /// The row without ETag, Last-Modified date and expiry, so that the next run fetches the document in full.
  fileprivate var withoutValidators: DocumentEntry {
    var document = self
    document.response = nil
    document.expiry = 0
    document.digest = nil
    return document
  }
}

/// Collects the cached details that the shop no longer has, and decides about them when all details are finished.
final class VanishedDetails: Sendable {
  /// The rows of a missing detail, to write if its removal is accepted.
  typealias Row = (detail: DetailEntry, document: DocumentEntry)

  enum Decision: Sendable {
    /// Too many details are missing at once, which looks like a fault of the shop. The items with these ids keep their
    /// details, and the next run decides again.
    case withheld([String])
    /// Only a few details are missing. The rows record their removal.
    case gone([Row])
  }

  private let rows = Mutex<[String: Row]>([:])

  /// Adds a missing detail that the last run still had.
  func note(_ detail: DetailEntry, _ document: DocumentEntry) {
    rows.withLock { $0[detail.item] = (detail, document) }
  }

  /// Decides about the missing details.
  ///
  /// Call it when all details are finished.
  ///
  /// - Parameter held: The number of details of this run that were in the cache before the run, and not missing.
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
