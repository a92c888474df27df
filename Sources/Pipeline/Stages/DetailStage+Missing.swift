import Cache
import Catalog

extension DetailStage {
  /// Keeps that the origin has no detail of an item.
  ///
  /// What was held before stays and shows, with the moment since when it is gone, until the user lets
  /// it go. Its pictures stay with it and are not asked for: they went with the detail.
  func keepMissing(_ id: String, _ document: DocumentEntry) {
    let known = state.withLock { $0.known[id] }
    guard var detail = known, detail.body != nil, !context.options.allowRemovals else {
      return keep(DetailEntry(item: id, document: document.id, state: .missing), document) {
        $0.missing += 1
      }
    }
    detail.document = document.id
    detail.since = detail.since ?? context.now().seconds
    let kept = detail
    if kept.state == .held { state.withLock { $0.vanished[id] = (kept, document) } }
    keep(kept, document) {
      $0.missing += 1
      $0.stale += 1
    }
  }

  /// Judges, once all details have answered, those that were held and are missing now.
  ///
  /// A few are gone. Many at once look like a fault: they are withheld, and are judged again by every
  /// run until the origin has them again or the user lets them go. A run that is killed before leaves
  /// them to the next, which asks for them anew.
  func judgeMissing() {
    let (vanished, held) = state.withLock { state in
      (
        state.vanished,
        state.known.values.count { $0.state == .held && state.seen.contains($0.item) }
      )
    }
    if ShrinkGuard.isSuspicious(details: held, missing: vanished.count) {
      return state.withLock { $0.tally.withheld = vanished.keys.sorted() }
    }
    for (detail, document) in vanished.values {
      var detail = detail
      detail.state = .missing
      context.store.commit(detail, catalog: context.entry.id, document: document) {}
    }
  }
}
