/// The expected contents of a cache, derived from the origin's answers and from the promises of the README.
///
/// It is written independently of larder's own code. The promises, each with the place where it is checked:
///
/// - Fresh data is not requested, and stale data is. (``SoakTerm``)
/// - After an answered request the cache has the content that the origin sent or confirmed.
/// - After a failed or useless answer the cache is unchanged.
/// - If a listing suddenly lacks too many items, the listing before is shown. Missing details are kept.
/// - After an interrupted run, each document and picture is in its old or its new state, never between the two. A
///   listing of several pages may show the pages that were received, and the items that it showed before.
struct SoakModel {
  /// The state of one URL in the cache.
  struct Held<Value: Hashable & Sendable>: Sendable {
    /// The possible values.
    ///
    /// After an interrupted run, there may be several. Nil stands for no content.
    var values: Set<Value?> = [nil]
    /// The URL of the content after redirects; nil if it is uncertain.
    var place: String?
    /// The last header fields of the origin.
    var fields = SoakFields()
    /// Other header fields that the version in the cache may have, because it may be from an interrupted run.
    var others: [SoakFields] = []
    /// The time during which the content is fresh; nil if unknown.
    var term: SoakTerm?
    /// When `warm` last found nothing here; it may wait a day before its next request.
    var refused: Int64?
    /// Whether the origin's last answer was that it has nothing here.
    ///
    /// The answer may be from an interrupted run.
    ///
    /// Later errors do not change this.
    var mayBeMissing = false
    /// Complete bodies from runs that crashed before the index knew them.
    ///
    /// Such a body's file may be adopted later. If the origin then answers 304, or fails, that
    /// body is shown.
    var strays: Set<Value> = []
  }

  /// The result of a request.
  enum Outcome: Equatable { case notAsked, answered, failed, gone }

  /// The pages of listings, by URL.
  var pages: [String: Held<[SoakSection]>] = [:]
  /// The details, by URL.
  var details: [String: Held<SoakDetail>] = [:]
  /// The pictures, by URL.
  var pictures: [String: Held<[UInt8]>] = [:]
  /// The sections that each catalog showed last.
  var shown: [String: [SoakSection]] = [:]
  /// The last answers for each URL, for messages.
  private(set) var history: [String: [String]] = [:]
  /// The violations found, in words.
  var complaints: [String] = []

  /// The last answer for a URL in a run, after its redirects.
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

  /// Updates the state of one URL after a run.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - held: The state before.
  ///   - run: The run.
  ///   - mayBeFresh: Whether the run skips fresh content of this kind.
  ///   - mayBeAsked: Whether a request for fresh content is allowed even in such a run.
  ///   - reading: Returns the content if it is of the right kind.
  /// - Returns: The result of the request.
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
    if isExcessive(answers, held.others.isEmpty && held.strays.isEmpty ? held.fields : nil) {
      complain(run, "after \(answers.map(\.answer.status)) asked again for", url, held)
    }
    var hops = end.hops
    func read(_ content: SoakContent) -> Value? { reading(content.resolved(from: end.place)) }
    if run.wasCut {
      if case .body(let content) = end.worth, let value = read(content) {
        let fields = hops[hops.count - 1].fields
        // Of a file that is adopted later, only the date is known.
        held.others = run.cut?.isCrash == true ? [fields, fields.dateAlone] : [fields]
        held.place = nil
        held.values.insert(value)
        if run.cut?.isCrash == true { held.strays.insert(value) }
      }
      switch end.worth {
      case .body: held.term = SoakTerm(held.term, or: SoakTerm(hops, at: run.now))
      case .same:
        let new = hops[hops.count - 1].fields
        // The run may have recorded the renewed fields, or not.
        let renewed = Set(([held.fields] + held.others).map { $0.renewed(by: new) })
        for fields in renewed {
          hops[hops.count - 1] = (200, fields)
          held.term = SoakTerm(held.term, or: SoakTerm(hops, at: run.now))
        }
        held.others += renewed.subtracting(held.others + [held.fields])
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
      let own = held.fields.renewed(by: new)
      let others = Array(Set(held.others.map { $0.renewed(by: new) }).subtracting([own]))
      func term(_ fields: SoakFields) -> SoakTerm {
        SoakTerm(hops.dropLast() + [(200, fields)], at: run.now)
      }
      // A 304 with a foreign tag renews nothing, so the content may be requested again at once.
      // (RFC 9111, section 4.3.4)
      let isForeign = new.tag != nil && held.fields.tag != new.tag
      if isForeign || !others.isEmpty {
        held.term = others.reduce(isForeign ? SoakTerm(held.term, or: term(own)) : term(own)) {
          SoakTerm($0, or: term($1))
        }
        // Tags that differ only in weakness may count as equal. (RFC 9110, section 8.8.3.2)
        let isWeaklySame = isForeign && new.opaqueTag == held.fields.opaqueTag
        held.others = others.isEmpty && isWeaklySame ? [own] : others
        if !isForeign { held.fields = own }
        return .answered
      }
      held.fields = own
      held.others = []
      hops[hops.count - 1] = (200, held.fields)
      held.refused = nil
    case .gone:
      held.refused = run.now
      held.mayBeMissing = true
      // The held content is no longer fresh, even if the clock is set back.
      held.term = held.term.map { SoakTerm($0, or: nil) }
      // With allowed removals, content that the origin no longer has may disappear.
      if run.allowsRemovals { held.values.insert(nil) }
      return .gone
    case .another, .moved, .nothing:
      held.refused = run.now
      return .failed
    }
    held.term = SoakTerm(hops, at: run.now)
    return .answered
  }

  /// Whether a URL was requested more often than its answers justify.
  ///
  /// A 304 for another version, a range that does not fit or is refused, a loop and a broken
  /// connection each justify one more request. libcurl itself also repeats requests on kept
  /// connections that break.
  ///
  /// - Parameters:
  ///   - exchanges: The requests and answers, in order.
  ///   - held: The header fields of the held version; nil if uncertain.
  /// - Returns: Whether there is an unjustified request.
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
    let name = url.split(separator: "/").last?.split(separator: "?").first
    let pages = run.pages(of: name.map(String.init) ?? url).joined(separator: "; ")
    complaints.append(
      "\(words) \(url) at \(run.now) (\(term ?? "never had")), after \(pages); before: \(past)"
    )
  }

  /// Records the last few answers of a URL.
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
