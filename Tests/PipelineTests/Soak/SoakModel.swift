/// What a cache must hold, told from what its origin sent and from what README promises.
///
/// It is written without a look at how larder does it. The promises, each where it is applied:
///
/// - What is fresh is not asked for, and what is not is. (``SoakTerm``)
/// - The requested data and answered is now what the origin said, whichever way it said it.
/// - What was not answered, or with nothing that can be used, is as it was.
/// - A listing that lost too much loses nothing; details that went missing stay.
/// - After a run that was cut short each thing is as it was or as it came, and never between.
struct SoakModel {
  /// What is held of one URL.
  struct Held<Value: Hashable & Sendable>: Sendable {
    /// What it may be: one value, nil for nothing, or several after a run that was cut short.
    var values: Set<Value?> = [nil]
    /// The URL that it came from, at the end of redirects; nil when that is in doubt.
    var place: String?
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
  func end(of url: String, _ exchanges: [String: [SoakOrigin.Exchange]])
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
  ///   - mayBeAsked: whether it may be asked for all the same.
  ///   - reading: what a content of the right kind is.
  /// - Returns: How it ended.
  mutating func settle<Value>(
    _ url: String,
    _ held: inout Held<Value>,
    _ run: SoakRun,
    mayBeFresh: Bool = true,
    mayBeAsked: Bool = false,
    reading: (SoakContent) -> Value?
  ) -> Outcome {
    guard let end = end(of: url, run.exchanges) else {
      let rests = held.refused.map { abs(run.now - $0) <= 86_400 } ?? false
      let isDue = !mayBeFresh || held.term?.demands(askingAt: run.now) ?? true
      if isDue, !rests, !run.wasCut { complain(run, "did not ask for", url, held) }
      return .notAsked
    }
    if mayBeFresh, !mayBeAsked, held.term?.forbids(askingAt: run.now) == true {
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
        held.place = nil
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
      held = Held(values: [value], place: end.place, fields: hops[hops.count - 1].fields)
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
  /// range that does not fit or is refused, a loop and a connection that broke may each be followed by one more.
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
        if exchange.request.range != nil { return false }
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
}
