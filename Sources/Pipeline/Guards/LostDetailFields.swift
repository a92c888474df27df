import Cache
import Catalog
import Synchronization

/// Collects the fields that newly fetched details lost, and judges the losses once all details have answered.
///
/// A field that all details lost at once looks like a fault: it is kept, and every run judges it again until the
/// origin sends it again or the user allows the removal. A field that only some lost is removed.
final class LostDetailFields: Sendable {
  /// The decision about the losses.
  struct Decision: Sendable {
    /// The fields that stay as they were.
    var kept: [DetailField] = []
    /// How many details lost one of them.
    var losers = 0
    /// The rows to write instead of those that ``admit(_:_:_:)`` gave.
    var rows: [(detail: DetailEntry, document: DocumentEntry)] = []
    /// The fields that the catalog file spells out and that no detail has.
    var absent: [DetailField] = []
  }

  /// A detail that lost fields: kept with them until all details have answered.
  private struct Stripped {
    /// The detail as it came.
    var entry: DetailEntry
    var document: DocumentEntry
    /// The fields that it had.
    var fields: [DetailField]
  }

  private struct Findings {
    /// The items whose details were fetched or are unchanged.
    var answered: Set<String> = []
    /// The items whose details were fetched.
    var came: Set<String> = []
    /// The fields that any of those has, or has as a list without elements.
    var present: Set<DetailField> = []
    /// The fields that any of those has a value in.
    var held: Set<DetailField> = []
    /// Those that lost something, by item.
    var stripped: [String: Stripped] = [:]
  }

  private let mapping: Mapping.Detail?
  private let known: [String: DetailEntry]
  private let isShared: Bool
  private let allowsRemovals: Bool
  private let state = Mutex(Findings())

  /// Judges the details of one catalog.
  ///
  /// - Parameters:
  ///   - mapping: which fields details have.
  ///   - known: the details as the last run left them, by item.
  ///   - isShared: whether one document holds all details, and so has one row.
  ///   - allowsRemovals: whether lost fields are removed without a decision.
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

  /// The rows to write for a fetched detail, until all have answered.
  ///
  /// The row keeps the fields that the detail lost. Its document has no validators and no expiry, so that the next
  /// run fetches it again if this one is killed. Pictures that it lost are not requested: they may well be gone.
  ///
  /// - Parameters:
  ///   - detail: the detail, as it was decoded.
  ///   - entry: its row.
  ///   - document: its document.
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

  /// Judges the losses, once all details have answered.
  ///
  /// A run that was stopped has not seen all answers and does not judge; the next fetches these details again.
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

  /// The suspects that are lost as if by a fault, in their order.
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

  /// The rows of a detail that lost fields: as it came, with the fields that are kept; nil when they are
  /// written already.
  private func row(
    of id: String,
    _ stripped: Stripped,
    keeping lost: [DetailField]
  ) -> (detail: DetailEntry, document: DocumentEntry)? {
    let kept = stripped.fields.filter { lost.contains($0) }
    guard kept != stripped.fields || isShared else { return nil }
    let old = kept.isEmpty ? nil : known[id]?.decoded
    let merged = old.flatMap { stripped.entry.keeping(kept, of: $0) }
    // All items of one document share its row.
    let hasValidators = isShared ? lost.isEmpty : kept.isEmpty
    return (
      merged ?? stripped.entry,
      hasValidators ? stripped.document : stripped.document.withoutValidators
    )
  }

  /// The fields that the catalog file names in vain, in their order.
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
  /// The document without validators and expiry: the next run fetches it in full.
  fileprivate var withoutValidators: DocumentEntry {
    var document = self
    document.response = nil
    document.expiry = 0
    document.digest = nil
    return document
  }
}

/// The details that were held and that their origin has no more, until all have answered and they can be judged.
final class VanishedDetails: Sendable {
  /// A detail that is gone, with the rows to write when it may go.
  struct Row: Sendable {
    var detail: DetailEntry
    var document: DocumentEntry
  }

  /// The decision about all of them.
  enum Decision: Sendable {
    /// Many at once look like a fault: these items keep their details, and the next run decides again.
    case withheld([String])
    /// A few are gone: these rows say so.
    case gone([Row])
  }

  private let rows = Mutex<[String: Row]>([:])

  /// Notes a detail that was held until now.
  func note(_ detail: DetailEntry, _ document: DocumentEntry) {
    rows.withLock { $0[detail.item] = Row(detail: detail, document: document) }
  }

  /// Judges them, once all details have answered.
  ///
  /// - Parameter held: how many of the details that the run asked for were held before it.
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
