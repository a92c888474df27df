/// Why a plan, a shard or a merge could not be done, with what to do about it.
package struct ShardError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word; an open set.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    package let rawValue: String

    /// Makes a code from its word.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// What was asked for cannot be.
    package static let usage = Code(rawValue: "usage")
    /// A plan or a manifest is not whole, or not of this plan.
    package static let data = Code(rawValue: "data")
    /// Something is not there yet, or failed for a reason that may pass.
    package static let tryAgain = Code(rawValue: "try-again")
    /// A picture that a shard placed is gone or damaged.
    package static let lost = Code(rawValue: "lost")
  }

  /// What went wrong.
  package let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
