import Base
import Glibc

/// A list of rules that decide which requests fail, and how.
///
/// For example, the rule `path=/pictures/* hits=1..3 status=503` answers the first three requests for pictures with
/// status 503. If several rules match a request, all of them apply. Delays are added up. If other effects conflict,
/// the effect of the last rule counts.
package typealias FaultScript = [FaultRule]

extension FaultScript {
  /// Parses a script.
  ///
  /// Each line is a rule, which consists of words `key=value` or `key`; see ``FaultRule/words``. `#` begins a comment.
  /// If a rule has a word twice, the last one counts.
  ///
  /// A value with white space must be in double quotes. In quotes, the escapes of JSON, such as `\"` and `\n`, are
  /// allowed.
  ///
  /// - Parameter text: The text of the script.
  /// - Throws: ``LarderError`` with the line and the word that cannot be read.
  package init(text: String) throws(LarderError) {
    self.init()
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let task = "read the fault script at line \(index + 1)"
      guard let words = try? FaultWord.read(line) else {
        let cause = "a value in quotes is not a string of JSON"
        throw LarderError(cannot: task, cause, "write \\\" for a quote in it")
      }
      if words.isEmpty { continue }
      var rule = FaultRule()
      for word in words {
        guard rule.add(word) else {
          let cause = "'\(word.text)' is none of its words"
          throw LarderError(cannot: task, cause, "write \(FaultRule.words)")
        }
      }
      guard !rule.effects.isEmpty else {
        let advice = "add an effect, such as status=503 or hang"
        throw LarderError(cannot: task, "the rule does nothing", advice)
      }
      append(rule)
    }
  }
}

extension FaultRule {
  /// The words of a rule: the first three select requests, and the others are effects.
  static let words =
    "path=GLOB, hits=2|1..3|4.., every=K, delay=250ms, status=503, retry-after=1, truncate=100|50%, reset, "
    + "reset=100, drip=2K, hang, close, body=\"…\", header=\"Name: value\""

  /// Adds a word of a script; returns false if its key or its value is wrong.
  fileprivate mutating func add(_ word: FaultWord) -> Bool {
    if word.key == "path", !word.value.isEmpty {
      path = word.value
    } else if word.key == "hits", let range = word.range {
      hits = .range(range)
    } else if word.key == "every", let step = word.number(1...) {
      hits = .every(step)
    } else if let effect = word.effect {
      effects.append(effect)
    } else {
      return false
    }
    return true
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
