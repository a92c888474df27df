/// The three kinds of what a catalog is made of: listings, details, pictures.
extension SoakModel {
  /// What a run made of its catalog's listings.
  ///
  /// - Returns: Section by section what it may show now; nothing for one that never came.
  mutating func settleListings(_ run: SoakRun) -> [(key: String, choices: [SoakListing])] {
    let catalog = run.catalog
    let before = Dictionary(
      uniqueKeysWithValues: (shown[catalog.name] ?? []).map { ($0.key, $0.items) }
    )
    var whole: Page?
    if case .combined = catalog.shape { whole = settlePage(SoakShop.page(catalog, 0), run) }
    // One response that holds all sections may have dropped some, which the guard then holds.
    var keys = catalog.sections.map(\.key)
    if case .combined = catalog.shape {
      keys += (shown[catalog.name] ?? []).map(\.key).filter { !keys.contains($0) }
    }
    return keys.enumerated().map { number, key in
      let (incoming, mayFail): (Set<SoakSection>, Bool)
      var broken: Set<SoakSection> = []
      switch catalog.shape {
      case .combined: (incoming, mayFail) = whole?.parts(key) ?? ([], true)
      case .listed:
        (incoming, mayFail) = settlePage(SoakShop.page(catalog, number), run).parts("")
      case .paged: (incoming, mayFail, broken) = settlePages(number, run)
      }
      let old = before[key]
      var choices = incoming.flatMap {
        SoakListing.choices($0, after: old, allowsRemovals: run.allowsRemovals)
      }
      choices += broken.flatMap { SoakListing.choices(beginning: $0, after: old) }
      // What did not come, or perhaps did not, is as it was.
      if mayFail || run.wasCut { choices.append(SoakListing(items: old ?? [])) }
      return (key, choices)
    }
  }

  /// What a page may hold after a run, and whether it may count as one that failed.
  private struct Page {
    var bodies: Set<[SoakSection]>
    var mayFail: Bool
    var isGone = false

    func parts(_ key: String) -> (Set<SoakSection>, Bool) {
      (Set(bodies.map { body in body.first { $0.key == key } ?? SoakSection(key: key) }), mayFail)
    }
  }

  /// What a run learned of pages whose items may move from one to another.
  private enum Turnover {
    case none, perhaps, sure
  }

  private mutating func settlePage(
    _ url: String,
    _ run: SoakRun,
    isSure: Bool = true,
    turnover: Turnover = .none
  ) -> Page {
    var held = pages[url] ?? Held()
    // A page that may not be needed need not be asked for.
    if !isSure { held.refused = run.now }
    let outcome = settle(
      url,
      &held,
      run,
      mayBeFresh: run.isWarm && turnover != .sure,
      mayBeAsked: turnover == .perhaps
    ) {
      if case .listing(let sections) = $0 { sections } else { nil }
    }
    // A listing that is not there is one that failed.
    held.refused = nil
    pages[url] = held
    let values = Set(held.values.compactMap(\.self))
    switch outcome {
    case .answered, .notAsked:
      // A run that was cut short may have learned that there is none.
      let isGone = run.wasCut && held.mayBeMissing
      return Page(bodies: values, mayFail: values.isEmpty, isGone: isGone)
    case .failed:
      // The origin itself may have said that what is held may stand in for an error. (RFC 5861, section 4)
      let isExcused = held.fields.control?.staleIfError != nil
      return Page(bodies: isExcused ? values : [], mayFail: true)
    case .gone: return Page(bodies: [], mayFail: true, isGone: true)
    }
  }

  /// What the pages of a section may hold together, up to the first that is empty, is not there, or lists
  /// nothing that those before it do not.
  ///
  /// An item that two pages list, as when it moved while they were read, counts where it came first.
  ///
  /// - Returns: What all pages may hold, whether none of it may count, and what those before one that failed may hold.
  private mutating func settlePages(
    _ section: Int,
    _ run: SoakRun
  ) -> (whole: Set<SoakSection>, mayFail: Bool, broken: Set<SoakSection>) {
    var open: Set<[SoakSection]> = [[]]
    var whole: Set<SoakSection> = []
    var broken: Set<SoakSection> = []
    var mayFail = false
    let turnover = turnover(section, run)
    var number = 0
    // Pages that were asked for before the listing turned out to end earlier are held all the same.
    defer {
      for number in number + 1...number + 6 {
        let url = SoakShop.page(run.catalog, section, number)
        if run.exchanges[url] != nil {
          _ = settlePage(url, run, isSure: false, turnover: .perhaps)
        }
      }
    }
    while true {
      number += 1
      let url = SoakShop.page(run.catalog, section, number)
      let page = settlePage(url, run, isSure: whole.isEmpty && !mayFail, turnover: turnover)
      // Behind at least one good page there may be no further one.
      if page.isGone, number > 1 {
        whole.formUnion(open.map { SoakSection(pages: $0) })
        if page.bodies.isEmpty { return (whole, mayFail, broken) }
      }
      if page.mayFail, number > 1 { broken.formUnion(open.map { SoakSection(pages: $0) }) }
      mayFail = mayFail || page.mayFail
      var longer: Set<[SoakSection]> = []
      for pages in open {
        for part in page.bodies.map({ $0[0] }) {
          let before = SoakSection(pages: pages)
          let isOver =
            part.items.isEmpty || pages.contains(part)
            || !part.readable.isEmpty && before.adding(part).readable == before.readable
          if isOver { whole.insert(before) } else { longer.insert(pages + [part]) }
        }
      }
      open = longer
      if open.isEmpty { break }
    }
    return (whole, mayFail, broken)
  }

  /// Whether a page that was held came anew, or went: all pages are then asked for, fresh or not, so that
  /// what moved between two is on one of them.
  private func turnover(_ section: Int, _ run: SoakRun) -> Turnover {
    var turnover = Turnover.none
    for number in 1... {
      let url = SoakShop.page(run.catalog, section, number)
      let held = pages[url]?.values ?? [nil]
      guard let end = end(of: url, run.exchanges) else {
        if held == [nil] { break }
        continue
      }
      guard held != [nil] else { continue }
      switch end.worth {
      case .body(let content):
        guard case .listing(let sections) = content.resolved(from: end.place) else { continue }
        if !held.contains(sections), !held.contains(nil) { return .sure }
        turnover = .perhaps
      case .gone: turnover = .perhaps
      case .same, .another, .moved, .nothing: continue
      }
    }
    return turnover
  }

  /// What a run made of the details of items.
  mutating func settleDetails(_ urls: Set<String>, _ run: SoakRun) {
    for url in urls.sorted() {
      var held = details[url] ?? Held()
      // The user may let go of what the origin does not have any more, whether it is asked or not.
      if run.allowsRemovals, held.refused != nil { held.values.insert(nil) }
      let refused = held.refused
      let before = held.values
      let outcome = settle(url, &held, run) { content in
        if case .detail(let detail) = content { detail } else { nil }
      }
      // A detail that lost its pictures keeps them until the run has judged all details together: one that
      // is cut short leaves that to the next.
      if run.wasCut {
        for new in held.values.subtracting(before).compactMap(\.self) where new.pictures.isEmpty {
          for old in before.compactMap(\.self) where !old.pictures.isEmpty {
            var kept = new
            kept.pictures = old.pictures
            held.values.insert(kept)
          }
        }
      }
      // Only one that the origin says it does not have is left alone for a day.
      if outcome == .failed { held.refused = refused }
      details[url] = held
    }
  }

  /// What a run made of the pictures of items.
  ///
  /// - Parameters:
  ///   - urls: all that are shown.
  ///   - optional: those of details that the origin does not have any more, for they may have gone too.
  ///   - run: the run.
  mutating func settlePictures(_ urls: Set<String>, optional: Set<String>, _ run: SoakRun) {
    for url in urls.sorted() {
      var held = pictures[url] ?? Held()
      if optional.contains(url) { held.refused = run.now }
      _ = settle(url, &held, run) { content in
        if case .picture(let bytes) = content { bytes } else { nil }
      }
      // What is held is asked for however often that failed.
      if !held.values.contains(nil) { held.refused = nil }
      pictures[url] = held
    }
  }
}
