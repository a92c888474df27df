/// Rules for what goes wrong; every rule that fires for a request has its effect.
package struct FaultScript: Hashable, Sendable, ExpressibleByArrayLiteral {
  /// The rules in order; where two say different things, the later one wins.
  package var rules: [FaultRule]

  /// A script under which nothing goes wrong.
  package static let none = FaultScript()

  /// Makes a script of rules.
  package init(_ rules: [FaultRule] = []) {
    self.rules = rules
  }

  /// Makes a script of rules.
  package init(arrayLiteral rules: FaultRule...) {
    self.rules = rules
  }
}
