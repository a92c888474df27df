/// Rules for what goes wrong; every rule that fires for a request has its effect.
public struct FaultScript: Hashable, Sendable, ExpressibleByArrayLiteral {
  /// The rules in order; where two say different things, the later one wins.
  public var rules: [FaultRule]

  /// A script under which nothing goes wrong.
  public static let none = FaultScript()

  /// Makes a script of rules.
  public init(_ rules: [FaultRule] = []) {
    self.rules = rules
  }

  /// Makes a script of rules.
  public init(arrayLiteral rules: FaultRule...) {
    self.rules = rules
  }
}
