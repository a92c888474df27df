import Glibc

/// A list of rules that decide which requests fail, and how.
///
/// For example, the rule `path=/pictures/* hits=1..3 status=503` answers the first three requests for pictures with
/// status 503. If several rules match a request, all of them apply. Delays are added up. If other effects conflict,
/// the effect of the last rule counts.
package typealias FaultScript = [FaultRule]

extension FaultScript {
  /// A script without faults.
  package static var none: FaultScript { [] }

  /// Parses a script.
  ///
  /// Each line is a rule, which consists of words `key=value` or `key`. `#` begins a comment.
  ///
  /// These keys select requests:
  /// `path=GLOB` `query=GLOB` `method=POST` `hits=2|1..3|4..` `every=K` `share=0.2` `seed=7` `per=path`.
  /// These keys set effects:
  /// `delay=250ms` `status=503` `retry-after=1` `truncate=100|50%` `reset` `reset=100` `drip=2K` `wrong-length=-5`
  /// `wrong-type=text/html` `redirect=URL` `hang` `body="…"` `header="Name: value"` `drop-validators` `chunked` `close`
  /// `gzip`.
  ///
  /// A value with white space must be in double quotes. In quotes, `\"`, `\\`, `\n`, `\r` and `\t` are escapes.
  ///
  /// - Parameter text: The text of the script.
  /// - Throws: ``SampleError`` with code `faults`, with the line of the error and with advice.
  package init(text: String) throws(SampleError) {
    self.init()
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = try FaultWord.read(line, line: index + 1)
      if !words.isEmpty { append(try FaultRule(words)) }
    }
  }
}

extension FaultRule {
  /// Creates a rule from the words of a line.
  fileprivate init(_ words: [FaultWord]) throws(SampleError) {
    self.init()
    func count(_ keys: String...) -> Int { words.count { keys.contains($0.key) } }
    for word in words where word.key != "header" && count(word.key) > 1 {
      throw word.error("'\(word.key)' is given twice", "write it once in a rule")
    }
    if count("hits", "every", "share") > 1 {
      throw words[0].error("'hits', 'every' and 'share' exclude each other", "keep one of them")
    }
    for word in words {
      guard let other = ["seed": "share", "retry-after": "status"][word.key], count(other) == 0
      else { continue }
      throw word.error("'\(word.key)' needs '\(other)' in the same rule", "add \(other)=…")
    }
    var share: Double?
    var seed = 0
    var status: Int?
    var retryAfter: String?
    var location: String?
    for word in words {
      switch word.key {
      case "path": path = try word.text("a path such as /pictures/*.jpg")
      case "query": query = try word.text("a query such as page=2*")
      case "method": method = try word.text("a method such as GET").uppercased()
      case "hits": hits = .range(try word.read("N, N..M or N.., counted from 1", Self.range))
      case "every": hits = .every(try word.number("a number from 1", 1...))
      case "share":
        let expected = "a share from 0 to 1, such as 0.2"
        share = try word.read(expected) { (text: String) -> Double? in
          Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }
      case "seed": seed = try word.number("a number from 0", 0...)
      case "per": scope = try word.read("rule or path") { ["rule": .rule, "path": .path][$0] }
      case "status": status = try word.number("a status from 200 to 599", 200...599)
      case "retry-after": retryAfter = try word.text("seconds or an HTTP date")
      case "redirect": location = try word.text("a URL or path")
      default: effects.append(try word.effect())
      }
    }
    if let share { hits = .share(share, seed: UInt64(seed)) }
    if let location { effects.append(.redirect(to: location, status: status ?? 302)) }
    if let status, location == nil || retryAfter != nil {
      effects.append(.status(status, retryAfter: retryAfter))
    }
    if effects.isEmpty {
      throw words[0].error("the rule does nothing", "add an effect, such as status=503 or hang")
    }
  }

  /// Parses a range: `2`, `1..3` or `4..`.
  private static func range(_ text: String) -> ClosedRange<Int>? {
    let ends = text.split(separator: "..", omittingEmptySubsequences: false)
    guard ends.count <= 2, let first = Int(ends[0]), first > 0,
      let last = ends.count == 1 ? first : ends[1].isEmpty ? .max : Int(ends[1]), last >= first
    else { return nil }
    return first...last
  }
}

/// A rule that applies effects to some of the requests that match it.
package struct FaultRule: Hashable, Sendable {
  /// The matching requests that a rule affects.
  package enum Hits: Hashable, Sendable {
    /// All matching requests.
    case all
    /// The matching requests with these numbers, counted from 1.
    case range(ClosedRange<Int>)
    /// Every k-th matching request, such as the third, the sixth and so on.
    case every(Int)
    /// About this fraction of the matching requests, such as 0.2 for a fifth.
    ///
    /// A pseudo-random number decides about each request. It depends only on the seed, on the path, and on the number
    /// of earlier requests for that path. Therefore the selection is the same in every run and for every order of
    /// requests.
    case share(Double, seed: UInt64 = 0)
  }

  /// The way in which matching requests are counted.
  package enum Scope: Hashable, Sendable {
    /// All matching requests are counted together.
    case rule
    /// The requests for each path are counted separately, so that a rule can affect the first request for every
    /// picture.
    case path
  }

  /// A pattern for the decoded path, such as `/pictures/*.jpg`.
  ///
  /// `*` matches any characters, `?` any single character, and `[…]` one of the characters in it.
  package var path: String
  /// A pattern for the query as it was sent, such as `page=2*`.
  ///
  /// Nil matches every request, with or without a query.
  package var query: String?
  /// The method, such as `GET`; nil matches any method.
  package var method: String?
  /// The matching requests that are affected.
  package var hits: Hits
  /// The way in which matching requests are counted.
  package var scope: Scope
  /// The effects on the affected requests.
  package var effects: [FaultEffect]

  /// Creates a rule for the paths that match a pattern, by default for every path.
  package init(
    _ path: String = "*",
    query: String? = nil,
    method: String? = nil,
    hits: Hits = .all,
    per scope: Scope = .rule,
    _ effects: FaultEffect...
  ) {
    self.path = path
    self.query = query
    self.method = method
    self.hits = hits
    self.scope = scope
    self.effects = effects
  }

  func fits(method: String, path: String, query: String?) -> Bool {
    if let wanted = self.method, wanted != method { return false }
    if let wanted = self.query, !glob(wanted, matches: query ?? "") { return false }
    return glob(self.path, matches: path)
  }
}

/// A fault script, with the number of requests that each rule has matched so far.
struct FaultLedger {
  let script: FaultScript
  private var counts: [Int]
  private var pathCounts: [[String: Int]]

  init(_ script: FaultScript) {
    self.script = script
    counts = script.map { _ in 0 }
    pathCounts = script.map { _ in [:] }
  }

  /// Counts a request, and returns the combined effects of the rules that apply to it; nil if there are none.
  mutating func fault(method: String, path: String, query: String?) -> Fault? {
    var effects: [FaultEffect] = []
    for (index, rule) in script.enumerated()
    where rule.fits(method: method, path: path, query: query) {
      counts[index] += 1
      let ofPath = pathCounts[index][path, default: 0] + 1
      pathCounts[index][path] = ofPath
      let hit = rule.scope == .path ? ofPath : counts[index]
      if rule.hits.include(hit, path: path, ofPath: ofPath) { effects += rule.effects }
    }
    return effects.isEmpty ? nil : Fault(effects)
  }
}

extension FaultRule.Hits {
  func include(_ hit: Int, path: String, ofPath: Int) -> Bool {
    switch self {
    case .all: true
    case .range(let range): range.contains(hit)
    case .every(let step): hit % max(1, step) == 0
    case .share(let share, let seed): draw(seed, path, ofPath) < share
    }
  }

  /// A pseudo-random number in 0..<1: the hash FNV-1a of path and count, passed through the finalizer of SplitMix64.
  private func draw(_ seed: UInt64, _ path: String, _ count: Int) -> Double {
    var hash = (0xCBF2_9CE4_8422_2325 as UInt64) ^ seed
    for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ UInt64(count)) &+ 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((hash ^ (hash >> 31)) >> 11) / Double(1 << 53 as UInt64)
  }
}

/// Whether a text matches a pattern, where `*` matches any bytes, `?` any single byte, and `[…]` one of several.
func glob(_ pattern: String, matches text: String) -> Bool {
  fnmatch(pattern, text, FNM_NOESCAPE) == 0
}
