import Foundation
import Pipeline
import Support
import Testing

/// Runs of `warm` against an origin that changes, fails, redirects and lies at random, by a seed.
///
/// After each run the cache is compared with ``SoakModel``, byte for byte. `LARDER_SOAK_RUNS` and
/// `LARDER_SOAK_SEED` set the length and the seed; a failure prints both. `LARDER_SOAK_LIES`
/// limits the faults to those it names, with the names of ``SoakLie``.
struct SoakTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let runs = environment["LARDER_SOAK_RUNS"].flatMap { Int($0) } ?? 40
  private static let seed = environment["LARDER_SOAK_SEED"].flatMap { UInt64($0) } ?? 1
  private static let lies =
    environment["LARDER_SOAK_LIES"].map { words in
      Set(words.split(separator: ",").compactMap { SoakLie(rawValue: String($0)) })
    } ?? Set(SoakLie.allCases)

  @Test
  func
    `the cache matches the answers of a changing, failing origin, and each run matches its plan`()
    throws
  {
    var soak = try Soak(seed: Self.seed, lies: Self.lies)

    for number in 1...Self.runs {
      let complaints = try soak.run(number)

      let replay = "LARDER_SOAK_SEED=\(Self.seed) LARDER_SOAK_RUNS=\(number)"
      try #require(complaints == [], "run \(number), \(soak.words): \(replay)")
      if Self.runs > 200, number % 100 == 0 { print("soak: \(soak.figures)") }
    }

    #expect(Self.runs < 40 || soak.plans > 0, "no run was held against its plan")
    if Self.runs > 200 { print("soak: seed \(Self.seed), \(soak.figures)") }
  }
}
