extension FaultScript {
  /// Reads the text form: one rule a line, words of `key=value` or `key`, `#` for comments.
  ///
  /// Which requests: `path=GLOB` `query=GLOB` `method=POST` `hits=2|1..3|4..` `every=K`
  /// `share=0.2` `seed=7` `per=path`. What happens: `delay=250ms` `status=503` `retry-after=1`
  /// `truncate=100|50%` `reset` `reset=100` `drip=2K` `wrong-length=-5` `wrong-type=text/html`
  /// `redirect=URL` `hang` `body="…"` `header="Name: value"` `drop-validators` `chunked` `close`
  /// `gzip`. A value with white space stands in double quotes, where `\"`, `\\`, `\n`, `\r` and
  /// `\t` are escapes.
  ///
  /// - Parameter text: The whole script.
  /// - Throws: ``StoreError`` with code `faults`, which names line and column and what was expected.
  package init(text: String) throws(StoreError) {
    var rules: [FaultRule] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = try FaultWord.read(line, line: index + 1)
      if !words.isEmpty { rules.append(try FaultRule(words)) }
    }
    self.init(rules)
  }
}

extension FaultRule {
  /// Makes a rule of the words of one line.
  fileprivate init(_ words: [FaultWord]) throws(StoreError) {
    self.init("*", effects: [])
    var seed: FaultWord?
    var retryAfter: FaultWord?
    var seen: Set<String> = []
    for word in words {
      if word.key != "header", !seen.insert(word.key).inserted {
        throw word.error("'\(word.key)' is there twice", "say it once a line")
      }
      switch word.key {
      case "path": path = try word.text("a path such as /pictures/*.jpg")
      case "query": query = try word.text("a query such as page=2*")
      case "method": method = try word.text("a method such as GET").uppercased()
      case "hits": hits = .range(try word.range())
      case "every": hits = .every(try word.number("a number from 1", from: 1))
      case "share": hits = .share(try word.share())
      case "per":
        let scope = ["rule": Scope.rule, "path": .path][try word.text("rule or path")]
        guard let scope else { throw word.wrong("rule or path") }
        self.scope = scope
      case "seed": seed = word
      case "retry-after": retryAfter = word
      default: effects.append(try word.effect())
      }
    }
    if seen.intersection(["hits", "every", "share"]).count > 1 {
      throw words[0].error("'hits', 'every' and 'share' exclude each other", "keep one of them")
    }
    if let seed {
      guard case .share(let share, _) = hits else { throw seed.without("share") }
      hits = .share(share, seed: UInt64(try seed.number("a number from 0", from: 0)))
    }
    try finish(seen, words[0], retryAfter)
  }

  /// Joins the words that belong together.
  private mutating func finish(
    _ seen: Set<String>,
    _ first: FaultWord,
    _ retryAfter: FaultWord?
  ) throws(StoreError) {
    let status = effects.firstIndex { if case .status = $0 { true } else { false } }
    if let retryAfter {
      guard let status, case .status(let code, _) = effects[status] else {
        throw retryAfter.without("status")
      }
      effects[status] = .status(code, retryAfter: try retryAfter.text("seconds or an HTTP date"))
    } else if let status, case .status(let code, _) = effects[status],
      let redirect = effects.firstIndex(where: { if case .redirect = $0 { true } else { false } }),
      case .redirect(let location, _) = effects[redirect]
    {
      effects[redirect] = .redirect(to: location, status: code)
      effects.remove(at: status)
    }
    if effects.isEmpty {
      throw first.error("the rule does nothing", "add an effect, such as status=503 or hang")
    }
  }
}
