import Cache
import Catalog
import Transport

/// What a run learned of the fields of those details that came anew.
struct DetailFields: Sendable {
  /// A detail that lost fields which it had: kept with them until all details have answered.
  struct Stripped: Sendable {
    /// The detail as it came.
    var entry: DetailEntry
    /// Its document.
    var document: DocumentEntry
    /// The fields that it had.
    var fields: [DetailField]
  }

  /// The items whose details came.
  var came: Set<String> = []
  /// The fields that any of them has, or has as a list without elements.
  var present: Set<DetailField> = []
  /// The fields that any of them has a value in.
  var held: Set<DetailField> = []
  /// Those that lost something, by item.
  var stripped: [String: Stripped] = [:]
}

extension DetailStage {
  /// Notes that a detail came anew or is as it was.
  func noteAnswer(_ detail: DetailEntry) {
    guard detail.state == .held, detail.since == nil else { return }
    state.withLock { _ = $0.answered.insert(detail.item) }
  }

  /// What to keep of a detail that came, until all have answered: with the fields that it lost, and a document
  /// that vouches for nothing, so that a run that is killed leaves it to be asked for anew.
  ///
  /// Pictures that it lost are not asked for: they may well have gone.
  ///
  /// - Parameters:
  ///   - detail: the detail, as it was decoded.
  ///   - entry: its row.
  ///   - document: its document.
  /// - Returns: The row and the document to keep.
  func guarded(
    _ detail: ItemDetail,
    _ entry: DetailEntry,
    _ document: DocumentEntry
  ) -> (DetailEntry, DocumentEntry) {
    let fields = context.catalog.mapping.detail?.fields ?? []
    let held = fields.filter { $0.isHeld(by: detail) }
    let empty = fields.filter { detail.empty?.contains($0.name) == true }
    let known = state.withLock { state in
      state.fields.came.insert(detail.id)
      state.fields.held.formUnion(held)
      state.fields.present.formUnion(held + empty)
      return state.known[detail.id]?.body
    }
    guard held.count < fields.count, !context.options.allowRemovals,
      let old = known.flatMap({ try? ItemDetail(decoding: $0) })
    else { return (entry, document) }
    let lost = fields.filter { $0.isHeld(by: old) && !held.contains($0) }
    guard !lost.isEmpty, let merged = entry.keeping(lost, of: old) else {
      return (entry, document)
    }
    state.withLock {
      $0.fields.stripped[detail.id] = DetailFields.Stripped(
        entry: entry,
        document: document,
        fields: lost
      )
    }
    return (merged, document.unvouched)
  }

  /// Judges, once all details have answered, the fields that some of them lost.
  ///
  /// What all lost at once looks like a fault: it stays, and is judged again by every run until the origin
  /// has it again or the user lets it go. What only some lost goes. A field that the catalog file spells out
  /// and no detail has is told in every run.
  ///
  /// A run that was stopped has not seen enough, and does not ask: the next fetches these details anew.
  func judgeFields() {
    guard let mapping = context.catalog.mapping.detail else { return }
    let (fields, answered, known) = state.withLock { ($0.fields, $0.answered, $0.known) }
    let suspects = mapping.fields.filter { field in
      fields.stripped.values.contains { $0.fields.contains(field) }
    }
    let lost = lostFields(among: suspects, fields, answered, known)
    for (id, stripped) in fields.stripped {
      let kept = stripped.fields.filter { lost.contains($0) }
      // All items of one document share its row.
      let isVouched = rule.isShared ? lost.isEmpty : kept.isEmpty
      settle(id, stripped, keeping: kept, isVouched: isVouched)
    }
    if !lost.isEmpty {
      let names = lost.map(\.name)
      let count = fields.stripped.values.count { $0.fields.contains { lost.contains($0) } }
      let paths = lost.flatMap { mapping.paths(of: $0) }
      state.withLock {
        $0.tally.kept = names
        $0.tally.error = GuardWords.lost(names, paths, details: count)
      }
    }
    noteAbsent(mapping, fields, answered, known)
  }

  /// The suspects that are lost as if by a fault, in their order.
  private func lostFields(
    among suspects: [DetailField],
    _ fields: DetailFields,
    _ answered: Set<String>,
    _ known: [String: DetailEntry]
  ) -> [DetailField] {
    guard !suspects.isEmpty else { return [] }
    var evidence = [DetailField: DetailGuard.Evidence]()
    for id in answered {
      guard let old = known[id]?.body.flatMap({ try? ItemDetail(decoding: $0) }) else { continue }
      let isNew = fields.came.contains(id)
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
      evidence.isInNew = fields.held.contains(field)
      evidence.isLeft = evidence.isLeft || evidence.isInNew
      return DetailGuard.isLost(evidence)
    }
  }

  /// Keeps a detail that lost fields: as it came but for those that stay.
  private func settle(
    _ id: String,
    _ stripped: DetailFields.Stripped,
    keeping fields: [DetailField],
    isVouched: Bool
  ) {
    guard fields != stripped.fields || rule.isShared else { return }
    let old = state.withLock { $0.known[id]?.body }.flatMap { try? ItemDetail(decoding: $0) }
    let merged = fields.isEmpty ? nil : old.flatMap { stripped.entry.keeping(fields, of: $0) }
    context.store.commit(
      merged ?? stripped.entry,
      catalog: context.entry.id,
      document: isVouched ? stripped.document : stripped.document.unvouched
    ) {}
  }

  /// Says which fields the catalog file names in vain: the run is then not complete.
  private func noteAbsent(
    _ mapping: Mapping.Detail,
    _ fields: DetailFields,
    _ answered: Set<String>,
    _ known: [String: DetailEntry]
  ) {
    var absent = mapping.given.subtracting(fields.present)
    guard !absent.isEmpty, !answered.isEmpty else { return }
    for id in answered where !absent.isEmpty && !fields.came.contains(id) {
      guard let detail = known[id]?.body.flatMap({ try? ItemDetail(decoding: $0) }) else {
        continue
      }
      absent = absent.filter { field in
        !field.isHeld(by: detail) && detail.empty?.contains(field.name) != true
      }
    }
    for field in mapping.fields where absent.contains(field) {
      let paths = mapping.paths(of: field).map(\.description)
      context.failures.note(
        SyncReport.Failure(
          stage: .detail,
          id: nil,
          url: rule.urlTemplate,
          reason: FailureReason.fieldMissing.rawValue,
          attempts: 1,
          detail: "cannot read \(field.name): no detail has a value at "
            + "\(paths.joined(separator: ", ")); correct the path in the catalog file, or leave it out"
        )
      )
    }
  }
}

extension DetailEntry {
  /// The row with what an earlier version of the detail has in some fields; nil when its body cannot be read.
  fileprivate func keeping(_ fields: [DetailField], of old: ItemDetail) -> DetailEntry? {
    guard let detail = body.flatMap({ try? ItemDetail(decoding: $0) }) else { return nil }
    let merged = detail.keeping(fields, of: old)
    var entry = self
    entry.body = merged.encoded()
    entry.pictures = merged.images.map { PictureID(url: $0.url) }
    return entry
  }
}

extension DocumentEntry {
  /// The document without the origin's word: it is asked for whole the next time.
  fileprivate var unvouched: DocumentEntry {
    var document = self
    document.response = nil
    document.expiry = 0
    document.digest = nil
    return document
  }
}
