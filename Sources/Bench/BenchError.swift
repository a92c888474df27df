/// Why a measurement could not take place: what, where, the cause, the next step.
public struct BenchError: Error, Sendable, CustomStringConvertible {
  /// What kind of trouble; the set may grow.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) {
      self.name = name
    }

    /// The list of URLs, or the baseline, cannot be read.
    public static let data = Code("data")
    /// There is nothing to measure.
    public static let nothing = Code("nothing")
    /// Nothing at all could be fetched.
    public static let unavailable = Code("unavailable")
    /// The temporary folder cannot be made.
    public static let disk = Code("disk")
  }

  /// What kind of trouble.
  public let code: Code
  /// `cannot VERB THING: REASON; TRY THIS`.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
