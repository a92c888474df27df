/// Which requests meet which faults.
package struct FaultRule: Hashable, Sendable {
  /// Which of the requests that fit a rule it touches.
  package enum Hits: Hashable, Sendable {
    /// All of them.
    case all
    /// The n-th to the m-th, from 1.
    case range(ClosedRange<Int>)
    /// Every k-th: the k-th, the 2k-th and so on.
    case every(Int)
    /// About this share of them. Which ones follows from the seed, the path and how often that path
    /// was asked for, so that it is the same in every run, whatever the order of requests.
    case share(Double, seed: UInt64 = 0)
  }

  /// What hits are counted by.
  package enum Scope: Hashable, Sendable {
    /// One count for the rule.
    case rule
    /// A count for each path: "the first try of every picture".
    case path
  }

  /// The decoded path, with `*` for any run of characters and `?` for any one.
  package var path: String
  /// A glob for the query as sent; nil for any query and none.
  package var query: String?
  /// The method; nil for any.
  package var method: String?
  /// Which of the requests that fit.
  package var hits: Hits
  /// What they are counted by.
  package var scope: Scope
  /// What happens to them.
  package var effects: [FaultEffect]

  /// Makes a rule for the paths that fit a glob; see the properties.
  package init(
    _ path: String,
    query: String? = nil,
    method: String? = nil,
    hits: Hits = .all,
    per scope: Scope = .rule,
    _ effects: FaultEffect...
  ) {
    self.init(path, query: query, method: method, hits: hits, per: scope, effects: effects)
  }

  /// Makes a rule for any path; see the properties.
  package init(
    query: String? = nil,
    method: String? = nil,
    hits: Hits = .all,
    per scope: Scope = .rule,
    _ effects: FaultEffect...
  ) {
    self.init("*", query: query, method: method, hits: hits, per: scope, effects: effects)
  }

  /// Makes a rule of effects in an array; see the properties.
  package init(
    _ path: String,
    query: String? = nil,
    method: String? = nil,
    hits: Hits = .all,
    per scope: Scope = .rule,
    effects: [FaultEffect]
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
