/// Why a measurement could not take place: what, where, the cause, the next step.
package struct BenchError: Error, Sendable, CustomStringConvertible {
  /// What kind of trouble; the set may grow.
  package struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) {
      self.name = name
    }

    /// The list of URLs, or the baseline, cannot be read.
    package static let data = Code("data")
    /// There is nothing to measure.
    package static let nothing = Code("nothing")
    /// Nothing at all could be fetched.
    package static let unavailable = Code("unavailable")
    /// The temporary folder cannot be made.
    package static let disk = Code("disk")
  }

  /// What helps; commands word it.
  package enum Remedy: Sendable, Hashable {
    /// Another folder for what is measured.
    case otherScratch
    /// A baseline that is made anew.
    case newBaseline
  }

  /// What kind of trouble.
  package let code: Code
  /// `cannot VERB THING: REASON`.
  package let description: String
  /// What helps, where it takes an option.
  package let remedy: Remedy?

  init(_ code: Code, _ description: String, remedy: Remedy? = nil) {
    self.code = code
    self.description = description
    self.remedy = remedy
  }
}
