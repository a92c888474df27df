/// What a cache must hold, told from what its origin sent and from what README and CONTRACT promise.
///
/// It is written without a look at how larder does it. The promises, each where it is applied:
///
/// - What is fresh is not asked for, and what is not is. (``SoakTerm``)
/// - What was asked for and answered is now what the origin said, whichever way it said it.
/// - What was not answered, or with nothing that can be used, is as it was.
/// - A listing that lost too much loses nothing; details that went missing stay.
/// - After a run that was cut short each thing is as it was or as it came, and never between.
struct SoakModel {
  /// What is held of one URL.
  struct Held<Value: Hashable & Sendable>: Sendable {
    /// What it may be: one value, nil for nothing, or several after a run that was cut short.
    var values: Set<Value?> = [nil]
    /// The origin's last word on it.
    var fields = SoakFields()
    /// The word of a version that a run brought which was cut short, and that may be held instead.
    var otherFields: SoakFields?
    /// Until when that word stands; nil when there is none.
    var term: SoakTerm?
    /// When an unattended run last learned that there is nothing; it need not ask again for a day.
    var refused: Int64?
    /// Whether the origin's last word was that it has nothing, and perhaps only in a run that was cut
    /// short; errors since then change nothing of it.
    var mayBeMissing = false
    /// Bodies that came whole in runs which crashed before the index knew of them: the file of one may be
    /// found and adopted, and if the origin then says 304, or nothing, it is what shows.
    var strays: Set<Value> = []
  }

  /// How a question ended.
  enum Outcome: Equatable { case notAsked, answered, failed, gone }

  /// The bodies of pages, by URL.
  var pages: [String: Held<[SoakSection]>] = [:]
  /// The details, by URL.
  var details: [String: Held<SoakDetail>] = [:]
  /// The pictures, by URL.
  var pictures: [String: Held<[UInt8]>] = [:]
  /// What each catalog shows, as last seen.
  var shown: [String: [SoakSection]] = [:]
  /// What was last said of each URL, for whoever has to find out what went wrong.
  private(set) var history: [String: [String]] = [:]
  /// What is wrong, in words.
  var complaints: [String] = []

  /// What came of a URL in a run, at the end of its redirects.
  private func end(of url: String, _ exchanges: [String: [SoakOrigin.Exchange]])
    -> (hops: [(status: Int, fields: SoakFields)], worth: SoakAnswer.Worth, place: String)?
  {
    var hops: [(status: Int, fields: SoakFields)] = []
    var place = url
    while let last = exchanges[place]?.last, hops.count < 9 {
      hops.append((last.answer.status, last.answer.fields))
      guard case .moved(let next) = last.answer.worth else {
        return (hops, last.answer.worth, place)
      }
      place = next
    }
    return hops.isEmpty ? nil : (hops, .nothing, place)
  }

  /// Takes in what a run did about one URL.
  ///
  /// - Parameters:
  ///   - url: the URL.
  ///   - held: what the cache held of it before.
  ///   - run: the run.
  ///   - mayBeFresh: whether its kind is left alone while it is fresh in such a run.
  ///   - reading: what a content of the right kind is.
  /// - Returns: How it ended.
  mutating func settle<Value>(
    _ url: String,
    _ held: inout Held<Value>,
    _ run: SoakRun,
    mayBeFresh: Bool = true,
    reading: (SoakContent) -> Value?
  ) -> Outcome {
    guard let end = end(of: url, run.exchanges) else {
      let rests = held.refused.map { abs(run.now - $0) <= 86_400 } ?? false
      let isDue = !mayBeFresh || held.term?.demands(askingAt: run.now) ?? true
      if isDue, !rests, !run.wasCut { complain(run, "did not ask for", url, held) }
      return .notAsked
    }
    if mayBeFresh, held.term?.forbids(askingAt: run.now) == true {
      complain(run, "asked for what is fresh,", url, held)
    }
    let answers = run.exchanges[url] ?? []
    defer { note(url, run, end.hops) }
    if isExcessive(answers, held.otherFields == nil && held.strays.isEmpty ? held.fields : nil) {
      complain(run, "after \(answers.map(\.answer.status)) asked again for", url, held)
    }
    var hops = end.hops
    func read(_ content: SoakContent) -> Value? { reading(content.resolved(from: end.place)) }
    if run.wasCut {
      if case .body(let content) = end.worth, let value = read(content) {
        held.otherFields = hops[hops.count - 1].fields
        held.values.insert(value)
        if run.cut?.isCrash == true { held.strays.insert(value) }
      }
      switch end.worth {
      case .body: held.term = SoakTerm(held.term, or: SoakTerm(hops, at: run.now))
      case .same:
        let new = hops[hops.count - 1].fields
        for fields in [held.fields, held.otherFields].compactMap(\.self) {
          hops[hops.count - 1] = (200, fields.renewed(by: new))
          held.term = SoakTerm(held.term, or: SoakTerm(hops, at: run.now))
        }
      case .gone:
        held.refused = run.now
        held.mayBeMissing = true
        if run.allowsRemovals { held.values.insert(nil) }
        held.term = SoakTerm(held.term, or: nil)
      case .another, .moved, .nothing: held.term = SoakTerm(held.term, or: nil)
      }
      return .notAsked
    }
    switch end.worth {
    case .body(let content):
      guard let value = read(content) else { return .failed }
      held = Held(values: [value], fields: hops[hops.count - 1].fields)
    case .same(let content):
      held.values.formUnion(held.strays)
      if held.values == [nil] { complain(run, "believed a 304 without holding", url, held) }
      held.values.remove(nil)
      held.strays = []
      held.mayBeMissing = false
      let new = hops[hops.count - 1].fields
      if let value = content.flatMap(read) { held.values = [value] }
      let renewed = [held.fields, held.otherFields].map { $0?.renewed(by: new) }
      let terms = renewed.map { fields in
        fields.map { SoakTerm(hops.dropLast() + [(200, $0)], at: run.now) }
      }
      // A 304 with a tag that the held version never had renews nothing: it may be asked for again at
      // once. (RFC 9111, section 4.3.4)
      let isForeign = new.tag != nil && held.fields.tag != new.tag
      if isForeign || held.otherFields != nil {
        held.term = SoakTerm(
          isForeign ? SoakTerm(held.term, or: terms[0]) : terms[0],
          or: terms[1]
        )
        if !isForeign { held.fields = held.fields.renewed(by: new) }
        // A tag that is the same but for being weak may count as the same. (RFC 9110, section 8.8.3.2)
        let isWeaklySame = isForeign && new.opaqueTag == held.fields.opaqueTag
        held.otherFields = renewed[1] ?? (isWeaklySame ? renewed[0] : nil)
        return .answered
      }
      held.fields = held.fields.renewed(by: new)
      hops[hops.count - 1] = (200, held.fields)
      held.refused = nil
    case .gone:
      held.refused = run.now
      held.mayBeMissing = true
      // The origin's word on what was held has ended, should the clock go back to where it stood.
      held.term = held.term.map { SoakTerm($0, or: nil) }
      // The user may let go of what the origin does not have any more.
      if run.allowsRemovals { held.values.insert(nil) }
      return .gone
    case .another, .moved, .nothing:
      held.refused = run.now
      return .failed
    }
    held.term = SoakTerm(hops, at: run.now)
    return .answered
  }

  /// Whether one URL was asked for more often than its answers ask for: a 304 for another version, a
  /// range that does not fit, a loop and a connection that broke may each be followed by one more.
  ///
  /// libcurl by itself repeats what broke on connections that were open before.
  ///
  /// - Parameters:
  ///   - exchanges: the requests and answers, in order.
  ///   - held: what the origin said of the version that is held; nil when that is in doubt.
  /// - Returns: Whether there is one that nothing asked for.
  private func isExcessive(_ exchanges: [SoakOrigin.Exchange], _ held: SoakFields?) -> Bool {
    exchanges.count { $0.answer.status != 0 } > 3
      || exchanges.dropLast().contains { exchange in
        if case .another = exchange.answer.worth { return false }
        let fields = exchange.answer.fields
        if exchange.answer.status == 304, held?.mayBeRenewed(by: fields) != true { return false }
        return ![0, 206, 301, 302, 307, 308].contains(exchange.answer.status)
      }
  }

  mutating func complain<Value>(
    _ run: SoakRun,
    _ words: String,
    _ url: String,
    _ held: Held<Value>
  ) {
    let term = held.term.map {
      "came at \($0.since), surely fresh until \($0.surely) and perhaps until \($0.perhaps)"
    }
    let past = (history[url] ?? []).joined(separator: "; ")
    complaints.append(
      "\(words) \(url) at \(run.now) (\(term ?? "never had")); before: \(past)"
    )
  }

  /// Remembers the last few answers of a URL.
  private mutating func note(
    _ url: String,
    _ run: SoakRun,
    _ hops: [(status: Int, fields: SoakFields)]
  ) {
    let proofs = (run.exchanges[url] ?? []).map {
      $0.request.ifNoneMatch ?? $0.request.ifModifiedSince ?? "-"
    }
    let words = hops.map {
      "\(proofs): \($0.status) \($0.fields.lines.joined(separator: ", "))"
    }
    let line = "at \(run.now)\(run.wasCut ? ", cut short" : ""): \(words.joined(separator: " → "))"
    history[url] = (history[url] ?? []).suffix(3) + [line]
  }

  // MARK: - The three kinds

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
      let (incoming, mayFail): (Set<SoakSection>, Bool) =
        switch catalog.shape {
        case .combined: whole?.parts(key) ?? ([], true)
        case .listed: settlePage(SoakShop.page(catalog, number), run).parts("")
        case .paged: settlePages(number, run)
        }
      let old = before[key]
      var choices = incoming.flatMap {
        SoakListing.choices($0, after: old, allowsRemovals: run.allowsRemovals)
      }
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

  private mutating func settlePage(_ url: String, _ run: SoakRun, isSure: Bool = true) -> Page {
    var held = pages[url] ?? Held()
    // A page that may not be needed need not be asked for.
    if !isSure { held.refused = run.now }
    let outcome = settle(url, &held, run, mayBeFresh: run.isWarm) {
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
  private mutating func settlePages(_ section: Int, _ run: SoakRun) -> (Set<SoakSection>, Bool) {
    var open: Set<[SoakSection]> = [[]]
    var whole: Set<SoakSection> = []
    var mayFail = false
    for number in 1... {
      let url = SoakShop.page(run.catalog, section, number)
      let page = settlePage(url, run, isSure: whole.isEmpty && !mayFail)
      // Behind at least one good page there may be no further one.
      if page.isGone, number > 1 {
        whole.formUnion(open.map { SoakSection(pages: $0) })
        if page.bodies.isEmpty { return (whole, mayFail) }
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
    return (whole, mayFail)
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
      let strays = held.strays
      _ = settle(url, &held, run) { content in
        if case .picture(let bytes) = content { bytes } else { nil }
      }
      // What is held is asked for however often that failed.
      if !held.values.contains(nil) { held.refused = nil }
      // Of a file that was adopted it is enough for now that the origin's body has its length.
      let lengths = held.values.compactMap { $0?.count }
      held.values.formUnion(strays.filter { lengths.contains($0.count) })
      pictures[url] = held
    }
  }
}
