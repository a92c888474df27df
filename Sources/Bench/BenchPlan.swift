import Transport

/// What is measured, and how.
package struct BenchPlan: Sendable {
  /// Which runs count; a pass that others need is run all the same.
  package var passes: [Pass] = Pass.allCases
  /// How many transfers at once.
  package var sweep = SweepPlan.auto()
  /// How often.
  package var repetition = RepetitionPlan.narrow(halfWidth: 0.05)
  /// Where the bytes go.
  package var sink = Sink.cache
  /// Requests a second, each counted from its planned start; nil starts one when another ends.
  package var rate: Double?
  /// When to start nothing more; what was measured until then is reported.
  package var deadline: MonotonicTime?

  /// The defaults above.
  package init() {}

  /// The passes to run, in the order in which each finds what it needs.
  var order: [Pass] {
    let last = Pass.allCases.lastIndex { passes.contains($0) } ?? 0
    // A warm run needs a cold one before it, a revalidation as well; neither needs the other.
    return Pass.allCases[...last].filter { $0 == .cold || passes.contains($0) }
  }
}

/// What a measurement takes from outside.
package struct BenchSurroundings: Sendable {
  /// Makes a transport with so many transfers at once; it ends when nobody holds it any more.
  package var transport: @Sendable (_ parallel: Int) throws -> any Fetching
  /// A clock that never goes back.
  package var monotonic: @Sendable () -> MonotonicTime
  /// The wall clock.
  package var wall: @Sendable () -> UnixTime
  /// Where `${NAME}` in a catalog's headers comes from.
  package var variables: [String: String]
  /// The folder in which a temporary one is made.
  package var scratch: String

  /// Takes all of them.
  package init(
    transport: @escaping @Sendable (_ parallel: Int) throws -> any Fetching,
    monotonic: @escaping @Sendable () -> MonotonicTime,
    wall: @escaping @Sendable () -> UnixTime,
    variables: [String: String] = [:],
    scratch: String
  ) {
    self.transport = transport
    self.monotonic = monotonic
    self.wall = wall
    self.variables = variables
    self.scratch = scratch
  }
}
