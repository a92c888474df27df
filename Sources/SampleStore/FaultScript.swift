import Base
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
  /// These keys select requests: `path=GLOB` `hits=2|1..3|4..` `every=K`. These keys set effects: `delay=250ms`
  /// `status=503` `retry-after=1` `truncate=100|50%` `reset` `reset=100` `drip=2K` `hang` `body="…"`
  /// `header="Name: value"` `close`.
  ///
  /// A value with white space must be in double quotes. In quotes, `\"`, `\\`, `\n`, `\r` and `\t` are escapes.
  ///
  /// - Parameter text: The text of the script.
  /// - Throws: ``LarderError`` with the line of the error and with advice.
  package init(text: String) throws(LarderError) {
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
  fileprivate init(_ words: [FaultWord]) throws(LarderError) {
    self.init()
    func count(_ keys: String...) -> Int { words.count { keys.contains($0.key) } }
    for word in words where word.key != "header" && count(word.key) > 1 {
      throw word.error("'\(word.key)' is given twice", "write it once in a rule")
    }
    if count("hits") + count("every") > 1 {
      throw words[0].error("'hits' and 'every' exclude each other", "keep one of them")
    }
    var status: Int?
    var retryAfter: String?
    for word in words {
      switch word.key {
      case "path": path = try word.text("a path such as /pictures/*.jpg")
      case "hits": hits = .range(try word.read("N, N..M or N.., counted from 1", Self.range))
      case "every": hits = .every(try word.number("a number from 1", 1...))
      case "status": status = try word.number("a status from 200 to 599", 200...599)
      case "retry-after":
        guard count("status") > 0 else {
          throw word.error("'retry-after' needs 'status' in the same rule", "add status=…")
        }
        retryAfter = try word.text("seconds or an HTTP date")
      default: effects.append(try word.effect())
      }
    }
    if let status { effects.append(.status(status, retryAfter: retryAfter)) }
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

    func include(_ hit: Int) -> Bool {
      switch self {
      case .all: true
      case .range(let range): range.contains(hit)
      case .every(let step): hit % max(1, step) == 0
      }
    }
  }

  /// A pattern for the decoded path, such as `/pictures/*.jpg`.
  ///
  /// `*` matches any characters, `?` any single character, and `[…]` one of the characters in it.
  package var path: String
  /// A pattern for the query as it was sent, such as `page=2*`.
  ///
  /// Nil matches every request, with or without a query.
  package var query: String?
  /// The matching requests that are affected.
  package var hits: Hits
  /// The effects on the affected requests.
  package var effects: [FaultEffect]

  /// Creates a rule for the paths that match a pattern, by default for every path.
  package init(
    _ path: String = "*",
    query: String? = nil,
    hits: Hits = .all,
    _ effects: FaultEffect...
  ) {
    self.path = path
    self.query = query
    self.hits = hits
    self.effects = effects
  }

  func fits(path: String, query: String?) -> Bool {
    if let wanted = self.query, !glob(wanted, matches: query ?? "") { return false }
    return glob(self.path, matches: path)
  }
}

/// A fault script, with the number of requests that each rule has matched so far.
struct FaultLedger {
  let script: FaultScript
  private var counts: [Int]

  init(_ script: FaultScript) {
    self.script = script
    counts = script.map { _ in 0 }
  }

  /// Counts a request, and returns the combined effects of the rules that apply to it; nil if there are none.
  mutating func fault(path: String, query: String?) -> Fault? {
    var effects: [FaultEffect] = []
    for (index, rule) in script.enumerated() where rule.fits(path: path, query: query) {
      counts[index] += 1
      if rule.hits.include(counts[index]) { effects += rule.effects }
    }
    return effects.isEmpty ? nil : Fault(effects)
  }
}

/// Whether a text matches a pattern, where `*` matches any bytes, `?` any single byte, and `[…]` one of several.
func glob(_ pattern: String, matches text: String) -> Bool {
  fnmatch(pattern, text, FNM_NOESCAPE) == 0
}
