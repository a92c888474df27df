/// The version of a library that was found, and those that it is compared with.
///
/// Versions are lists of numbers, the most significant first.
struct CodecVersion: Equatable, Sendable {
  /// What messages call it.
  let name: String
  /// The version whose headers larder was compiled with.
  let built: [Int]
  /// The version that is loaded.
  let found: [Int]
  /// The first that may be used.
  let least: [Int]
  /// How many leading numbers of `built` the loaded library must share: others have another binary interface.
  let series: Int

  /// What to say when the loaded library cannot be used; nil when it can.
  var shortcoming: String? {
    if !found.starts(with: built.prefix(series)) {
      return "\(name) \(Self.text(found)) does not fit: larder was built for "
        + "\(name) \(Self.text(built.prefix(series))); install the package that it was built with"
    }
    guard found.lexicographicallyPrecedes(least) else { return nil }
    return "\(name) \(Self.text(found)) is too old: larder needs \(Self.text(least)) or later; "
      + "update the system's package"
  }

  private static func text(_ version: some Sequence<Int>) -> String {
    version.map(String.init).joined(separator: ".")
  }
}
