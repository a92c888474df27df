import Base
import Cache
import Catalog
import Synchronization

/// Counts the fields that fetched details have lost, and decides about the losses when all details are finished.
///
/// A detail is the document about one item, with more data than the item has in a list of items. One document can also
/// have the details of all items.
///
/// If all details lose a field at once, that looks like a fault of the shop, and the old values of the field are kept.
/// Every later run decides again, until the shop sends the field or the user allows its removal. If only some details
/// lose a field, the loss is accepted.
///
/// Of the details themselves, only the ids of those are in memory that lost fields or could not be brought up to date.
/// Unchanged details are only counted. They are read from the index at the end of the run, and only if the decision
/// depends on their fields.
final class LostDetailFields: Sendable {
  /// The decision about the losses.
  struct Decision: Sendable {
    /// The fields whose old values are kept.
    var kept: [DetailField] = []
    /// The number of details that lost at least one of the kept fields.
    var losers = 0
    /// The details with losses that are accepted.
    ///
    /// Their preliminary rows still have the old values.
    var accepted: [Accepted] = []
    /// The fields that have a path in the catalog file, but no value in any detail.
    var absent: [DetailField] = []
  }

  /// Details that lost the same fields.
  struct Accepted: Sendable {
    /// The ids of their items.
    var items: [String]
    /// The fields to remove from their rows.
    var fields: [DetailField]
    /// Whether their rows keep old values of other fields.
    var areOthersKept: Bool
  }

  private struct Findings {
    /// The number of details that were fetched or are unchanged.
    var answered = 0
    /// The number of these details that the cache had before.
    var held = 0
    /// The number of fetched details that the cache had before.
    var came = 0
    /// The number of fetched details that had a field before, for each field that one of them lacks now.
    var cameWith: [DetailField: Int] = [:]
    /// The fields that have a value in any fetched detail.
    var new: Set<DetailField> = []
    /// The fields that are present in any fetched detail, even if only as an empty list.
    var present: Set<DetailField> = []
    /// The ids of items whose details lost fields, by the lost fields.
    var stripped: [[DetailField]: [String]] = [:]
    /// The ids of items whose details were neither fetched nor confirmed.
    var unread: [String] = []

    /// Whether the shop lost a field by a fault.
    ///
    /// `isLeft` says whether any unchanged detail has the field. The number of these details does not matter.
    func isLost(_ field: DetailField, isLeft: Bool) -> Bool {
      let isInNew = new.contains(field)
      return DetailGuard.isLost(
        cameWith[field] ?? 0,
        of: came,
        held: held,
        isInNew: isInNew,
        isLeft: isInNew || isLeft
      )
    }
  }

  private let mapping: Mapping.Detail?
  private let fields: [DetailField]
  private let allowsRemovals: Bool
  private let state = Mutex(Findings())

  /// Makes the guard for the details of one catalog.
  ///
  /// - Parameters:
  ///   - mapping: The catalog file's paths for the fields of details; nil if it gives none.
  ///   - allowsRemovals: Whether every loss is accepted.
  init(_ mapping: Mapping.Detail?, allowsRemovals: Bool) {
    self.mapping = mapping
    fields = mapping?.fields ?? []
    self.allowsRemovals = allowsRemovals
  }

  /// Whether any detail lost a field.
  var hasLosses: Bool { state.withLock { !$0.stripped.isEmpty } }

  /// Counts unchanged details, and those of them that have a body.
  func noteUnchanged(_ count: Int, held: Int) {
    state.withLock { state in
      state.answered += count
      state.held += held
    }
  }

  /// Records a detail of which the cache has an earlier version, but this run could not bring it up to date.
  ///
  /// Its fields say nothing about the shop.
  func noteUnread(_ detail: DetailEntry) {
    state.withLock { $0.unread.append(detail.item) }
  }

  /// Counts a fetched detail, and returns its preliminary row, which is written while other details are still being
  /// fetched.
  ///
  /// If the detail lost fields, its row keeps their old values. Pictures that the detail lost are not requested, because
  /// the shop has probably removed them.
  ///
  /// - Parameters:
  ///   - detail: The decoded detail.
  ///   - entry: Its row.
  ///   - known: The row before this run; nil if there was none.
  /// - Returns: The preliminary row; nil if the detail lost no fields, so that `entry` is final.
  func admit(
    _ detail: ItemDetail,
    _ entry: DetailEntry,
    replacing known: DetailEntry?
  ) -> DetailEntry? {
    let held = fields.filter { $0.isHeld(by: detail) }
    let old = held.count < fields.count && !allowsRemovals ? known?.decoded : nil
    let lost = fields.filter { field in
      !held.contains(field) && old.map(field.isHeld) ?? false
    }
    let merged = lost.isEmpty ? nil : old.flatMap { entry.keeping(lost, of: $0) }
    state.withLock { state in
      state.answered += 1
      if known?.body != nil {
        state.held += 1
        state.came += 1
      }
      state.new.formUnion(held)
      state.present.formUnion(held + empty(detail))
      for field in lost { state.cameWith[field, default: 0] += 1 }
      if merged != nil { state.stripped[lost, default: []].append(detail.id) }
    }
    return merged
  }

  /// The fields that are empty lists in a detail.
  private func empty(_ detail: ItemDetail) -> [DetailField] {
    guard let names = detail.empty else { return [] }
    return fields.filter { names.contains($0.name) }
  }

  /// Decides about the losses.
  ///
  /// Call it when all details are finished.
  ///
  /// Do not call it in a run that was ended early, because such a run has not fetched all details. The next run fetches
  /// the details with losses again.
  ///
  /// - Parameter next: Returns further details of the run as they are in the index, and an empty array after the last
  ///   one. It is called only as long as the decision depends on the fields of unchanged details.
  /// - Returns: The decision.
  /// - Throws: ``LarderError`` if `next` does.
  func judge(
    _ next: () throws(LarderError) -> [(item: String, body: [UInt8])]
  ) throws(LarderError) -> Decision {
    guard let mapping else { return Decision() }
    let state = state.withLock { $0 }
    var undecided = Set(
      fields.filter { state.isLost($0, isLeft: false) != state.isLost($0, isLeft: true) }
    )
    var absent = state.answered == 0 ? [] : mapping.given.subtracting(state.present)
    var left: Set<DetailField> = []
    let others = Set(state.stripped.values.joined()).union(state.unread)
    while !undecided.isEmpty || !absent.isEmpty {
      let details = try next()
      if details.isEmpty { break }
      for detail in details where !others.contains(detail.item) {
        guard let decoded = try? ItemDetail(decoding: detail.body) else { continue }
        let held = fields.filter { $0.isHeld(by: decoded) }
        left.formUnion(held)
        undecided.subtract(held)
        absent.subtract(held + empty(decoded))
        if undecided.isEmpty, absent.isEmpty { break }
      }
    }
    let kept = fields.filter { state.isLost($0, isLeft: left.contains($0)) }
    var decision = Decision(kept: kept)
    for (lost, items) in state.stripped {
      let accepted = lost.filter { !kept.contains($0) }
      if accepted.count < lost.count { decision.losers += items.count }
      guard !accepted.isEmpty else { continue }
      decision.accepted.append(
        Accepted(items: items, fields: accepted, areOthersKept: accepted.count < lost.count)
      )
    }
    decision.absent = fields.filter(absent.contains)
    return decision
  }
}

extension DetailEntry {
  /// The row with the old values of some fields; nil if the row's detail cannot be decoded.
  fileprivate func keeping(_ fields: [DetailField], of old: ItemDetail) -> DetailEntry? {
    decoded.map { with($0.keeping(fields, of: old)) }
  }

  /// The row without the values of some fields; nil if the row's detail cannot be decoded.
  func without(_ fields: [DetailField]) -> DetailEntry? {
    decoded.map { detail in
      var none = detail
      (none.description, none.prices, none.images, none.notes) = (nil, [], [], [:])
      return with(detail.keeping(fields, of: none))
    }
  }

  private func with(_ detail: ItemDetail) -> DetailEntry {
    var entry = self
    entry.body = detail.encoded()
    entry.pictures = detail.images.map { PictureID(url: $0.url) }
    return entry
  }
}
