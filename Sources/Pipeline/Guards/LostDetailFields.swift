import Base
import Cache
import Catalog
import Synchronization

/// Counts the fields that fetched details have lost, and decides about the losses when all details are finished.
///
/// A detail is the document about one item, with more data than the item has in a list of items. One document can also
/// have the details of all items.
///
/// If all details lose a field at once, that looks like a fault of the shop, and the details that lost a field stay as
/// they were. Every later run decides again, until the shop sends the field or the user allows its removal. If only
/// some details lose a field, the loss is accepted.
///
/// Only counts are in memory. Unchanged details are read from the index at the end of the run, and only if the decision
/// depends on their fields.
final class LostDetailFields: Sendable {
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

    /// If some details still have the field, at least this many fetched details must have lost it.
    private static let telling = 10

    /// Whether the shop lost a field by a fault, and did not only remove it from some details.
    ///
    /// If there are fewer than three details, they can change freely. Otherwise a field is lost in two cases, in both of
    /// which no fetched detail has it. Either more than half of the details had it, and none has it now. Or at least ten
    /// fetched details had it, and these are more than half of the fetched details.
    ///
    /// The second case is needed because the details of a shop are often requested a few at a time. Unchanged details
    /// then still have the field.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - isLeft: Whether any unchanged detail has the field. The number of these details does not matter.
    /// - Returns: Whether the field was lost by a fault.
    func isLost(_ field: DetailField, isLeft: Bool) -> Bool {
      guard held >= 3, !new.contains(field), let lost = cameWith[field] else { return false }
      return isLeft ? lost >= Self.telling && lost * 2 > came : lost * 2 > held
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

  /// Counts unchanged details, and those of them that have a body.
  func noteUnchanged(_ count: Int, held: Int) {
    state.withLock { state in
      state.answered += count
      state.held += held
    }
  }

  /// Counts a fetched detail, and decides whether it can be shown before all others are finished.
  ///
  /// - Parameters:
  ///   - detail: The detail.
  ///   - known: The row before this run; nil if there was none.
  /// - Returns: False if the detail lost fields. It is then shown or not as ``judge(_:)`` decides.
  func admits(_ detail: ItemDetail, replacing known: DetailEntry?) -> Bool {
    let held = held(detail)
    let old = held.count < fields.count && !allowsRemovals ? known?.decoded : nil
    let lost = (old.map(self.held) ?? []).filter { !held.contains($0) }
    state.withLock { state in
      state.answered += 1
      if known?.body != nil {
        state.held += 1
        state.came += 1
      }
      state.new.formUnion(held)
      state.present.formUnion(held + empty(detail))
      for field in lost { state.cameWith[field, default: 0] += 1 }
    }
    return lost.isEmpty
  }

  /// The fields in which a detail has a value.
  private func held(_ detail: ItemDetail) -> [DetailField] {
    let names = detail.fieldNames
    return fields.filter { names.contains($0.name) }
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
  /// - Parameter next: Returns further unchanged details, as JSON, and an empty array after the last one. It is called
  ///   only as long as the decision depends on their fields.
  /// - Returns: The fields that the shop lost by a fault, and the fields that have a path in the catalog file, but no
  ///   value in any detail.
  /// - Throws: ``LarderError`` if `next` does.
  func judge(
    _ next: () throws(LarderError) -> [[UInt8]]
  ) throws(LarderError) -> (lost: [DetailField], absent: [DetailField]) {
    guard let mapping else { return ([], []) }
    let state = state.withLock { $0 }
    var undecided = Set(
      fields.filter { state.isLost($0, isLeft: false) != state.isLost($0, isLeft: true) }
    )
    var absent = state.answered == 0 ? [] : mapping.given.subtracting(state.present)
    var left: Set<DetailField> = []
    while !undecided.isEmpty || !absent.isEmpty {
      let details = try next()
      if details.isEmpty { break }
      for detail in details.lazy.compactMap({ try? ItemDetail(decoding: $0) }) {
        let held = held(detail)
        left.formUnion(held)
        undecided.subtract(held)
        absent.subtract(held + empty(detail))
        if undecided.isEmpty, absent.isEmpty { break }
      }
    }
    let lost = fields.filter { state.isLost($0, isLeft: left.contains($0)) }
    return (lost, fields.filter(absent.contains))
  }
}
