import Pipeline

/// Compares `--dry-run` with the run that follows it.
extension SoakModel {
  /// Checks that a run sends exactly the requests that its plan announced.
  ///
  /// For pages and details this holds only if the pages are unchanged, and for pictures only if
  /// the details are unchanged too.
  ///
  /// - Returns: Whether the whole plan was compared.
  mutating func comparePlan(_ run: SoakRun, _ before: SoakModel) -> Bool {
    guard let plan = run.plan, !run.wasCut, !run.allowsRemovals else { return false }
    let asked = run.exchanges.filter { url, _ in !url.hasPrefix("http://cdn.test/") }
    let pages = asked.keys.filter { self.pages[$0] != nil && details[$0] == nil }
    guard pages.allSatisfy({ stands(before.pages[$0], at: $0, run) }) else {
      return false
    }
    var planned: [String: String] = [:]
    for section in plan.sections where section.action != "fresh" {
      planned[section.url] = section.action
    }
    demand(planned, of: pages, run) { before.pages[$0]?.place }

    // A page received before another one failed may be shown only now.
    guard before.shown[run.catalog.name] == shown[run.catalog.name] else { return false }
    let answered = asked.keys.filter { details[$0] != nil }
    demand(plan.details.actions, of: answered, run) { before.details[$0]?.place }
    guard answered.allSatisfy({ stands(before.details[$0], at: $0, run) }) else {
      return false
    }
    demand(plan.images.actions, of: asked.keys.filter { $0.contains(".test/p/") }, run) {
      before.pictures[$0]?.place
    }
    return true
  }

  /// Whether a run left the state of a URL unchanged.
  private func stands<Value>(_ held: Held<Value>?, at url: String, _ run: SoakRun) -> Bool {
    guard let held, held.values.count == 1, held.values != [nil] else { return false }
    switch (end(of: url, run.exchanges)?.worth, run.catalog.shape) {
    case (.same, _): return true
    // After a failed page no further page is requested.
    case (.nothing, .listed), (.nothing, .combined): return true
    default: return false
    }
  }

  /// Whether a URL, or the target of its redirects, was requested conditionally.
  private func isConditional(_ url: String, _ run: SoakRun) -> Bool {
    var place = url
    for _ in 0..<9 {
      guard let first = run.exchanges[place]?.first else { return false }
      if first.request.isConditional { return true }
      guard case .moved(let next) = first.answer.worth else { return false }
      place = next
    }
    return false
  }

  private mutating func demand(
    _ planned: [String: String],
    of asked: [String],
    _ run: SoakRun,
    origin: (String) -> String?
  ) {
    for url in Set(planned.keys).union(asked).sorted() {
      let action = run.exchanges[url].map { _ in
        isConditional(url, run) ? "revalidate" : "fetch"
      }
      // Content that has moved may not be revalidated with its old validators.
      if action == "fetch", planned[url] != nil, origin(url) != end(of: url, run.exchanges)?.place
      {
        continue
      }
      if planned[url] != action {
        complaints.append(
          "the plan was to \(planned[url] ?? "leave alone") \(url), the run did: \(action ?? "nothing"), "
            + "at \(run.now); before: \((history[url] ?? []).joined(separator: "; "))"
        )
      }
    }
  }
}

extension SyncPlan.Work {
  /// The planned action for each URL.
  fileprivate var actions: [String: String] {
    var actions: [String: String] = [:]
    for url in fetch { actions[url] = "fetch" }
    for url in revalidate { actions[url] = "revalidate" }
    return actions
  }
}
