/// The three kinds of documents of a catalog: listings, details and pictures.
extension SoakModel {
  /// Updates the model with the listings of a run.
  ///
  /// - Returns: The listings that each section may show now. There are none for a section that was never received.
  mutating func settleListings(_ run: SoakRun) -> [(key: String, choices: [SoakListing])] {
    let catalog = run.catalog
    let before = Dictionary(
      uniqueKeysWithValues: (shown[catalog.name] ?? []).map { ($0.key, $0.items) }
    )
    var whole: Page?
    if case .combined = catalog.shape { whole = settlePage(SoakShop.page(catalog, 0), run) }
    // A combined response may lack some sections, which the guard then withholds.
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
      choices += broken.flatMap {
        SoakListing.choices(beginning: $0, after: old, allowsRemovals: run.allowsRemovals)
      }
      // A listing that failed, or perhaps failed, stays as it was.
      if mayFail || run.wasCut { choices.append(SoakListing(items: old ?? [])) }
      return (key, choices)
    }
  }

  /// The possible contents of a page after a run, and whether it may count as failed.
  private struct Page {
    var bodies: Set<[SoakSection]>
    var mayFail: Bool
    var isGone = false

    func parts(_ key: String) -> (Set<SoakSection>, Bool) {
      (Set(bodies.map { body in body.first { $0.key == key } ?? SoakSection(key: key) }), mayFail)
    }
  }

  /// Whether the items of a listing moved between its pages, as far as a run can tell.
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
    // A page that may not be needed need not be requested.
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
    // A missing listing counts as failed.
    held.refused = nil
    pages[url] = held
    let values = Set(held.values.compactMap(\.self))
    switch outcome {
    case .answered, .notAsked:
      // An interrupted run may have learned that the page is missing.
      let isGone = run.wasCut && held.mayBeMissing
      return Page(bodies: values, mayFail: values.isEmpty, isGone: isGone)
    case .failed:
      // The origin may have allowed the use of the stored page after an error. (RFC 5861, section
      // 4)
      let isExcused = held.fields.control?.staleIfError != nil
      return Page(bodies: isExcused ? values : [], mayFail: true)
    case .gone: return Page(bodies: [], mayFail: true, isGone: true)
    }
  }

  /// The possible joined pages of a section, up to the first page that is empty, missing or without new items.
  ///
  /// An item on two pages, because it moved meanwhile, is listed where it appeared first.
  ///
  /// - Returns: The possible whole listings, whether the listing may have failed, and the possible pages before one
  ///   that failed or was not reached.
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
    // Pages that were requested before the listing's end was known are in the cache too.
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
      // After at least one good page, a missing page ends the listing.
      if page.isGone, number > 1 {
        whole.formUnion(open.map { SoakSection(pages: $0) })
        if page.bodies.isEmpty { return (whole, mayFail, broken) }
      }
      // A run that was interrupted may have ended before this page.
      if page.mayFail || run.wasCut, number > 1 {
        broken.formUnion(open.map { SoakSection(pages: $0) })
      }
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

  /// Whether a cached page changed or is missing.
  ///
  /// If so, all pages are requested, fresh or not, so that an item which moved from one page to another is found.
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

  /// Updates the model with the details of a run.
  mutating func settleDetails(_ urls: Set<String>, _ run: SoakRun) {
    for url in urls.sorted() {
      var held = details[url] ?? Held()
      // With allowed removals, a detail that the origin no longer has may disappear, requested or
      // not.
      if run.allowsRemovals, held.refused != nil { held.values.insert(nil) }
      let refused = held.refused
      let before = held.values
      let outcome = settle(url, &held, run) { content in
        if case .detail(let detail) = content { detail } else { nil }
      }
      // A detail that lost its pictures keeps them until the run has judged all details together.
      // An interrupted run leaves that to the next one.
      if run.wasCut {
        for new in held.values.subtracting(before).compactMap(\.self) where new.pictures.isEmpty {
          for old in before.compactMap(\.self) where !old.pictures.isEmpty {
            var kept = new
            kept.pictures = old.pictures
            held.values.insert(kept)
          }
        }
      }
      // Only a detail that the origin does not have may wait a day before it is requested again.
      if outcome == .failed { held.refused = refused }
      details[url] = held
    }
  }

  /// Updates the model with the pictures of a run.
  ///
  /// - Parameters:
  ///   - urls: All pictures that are shown.
  ///   - optional: Pictures of details that the origin no longer has, which may be removed as
  ///     well.
  ///   - run: The run.
  mutating func settlePictures(_ urls: Set<String>, optional: Set<String>, _ run: SoakRun) {
    for url in urls.sorted() {
      var held = pictures[url] ?? Held()
      if optional.contains(url) { held.refused = run.now }
      _ = settle(url, &held, run) { content in
        if case .picture(let bytes) = content { bytes } else { nil }
      }
      // A picture in the cache is requested however often it failed.
      if !held.values.contains(nil) { held.refused = nil }
      pictures[url] = held
    }
  }
}
