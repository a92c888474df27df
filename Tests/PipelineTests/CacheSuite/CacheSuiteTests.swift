import Foundation
import Testing

/// Runs the suite http-tests/cache-tests.
///
/// Each request of a test is a run of larder.
///
/// The suite is read from a folder beside the repository. If the folder is missing, the tests are skipped with a
/// message.
@Suite("the http cache-tests", .enabled(if: CacheSuite.all != nil, "no \(CacheSuite.path)"))
struct CacheSuiteTests {
  private static let ways = CacheSuitePlace.allCases.flatMap { place in
    CacheSuiteRun.Mode.allCases.map { (place, $0) }
  }

  private func verdicts(
    _ place: CacheSuitePlace,
    _ mode: CacheSuiteRun.Mode,
    _ isWanted: (CacheSuite.Case) -> Bool
  ) throws -> [CacheSuiteRun.Verdict] {
    let cases = try #require(CacheSuite.all).filter {
      isWanted($0) && CacheSuiteExceptions.reason($0, place, mode) == nil
    }
    let verdicts = try CacheSuiteRun.groups(cases).flatMap {
      try CacheSuiteRun(cases: $0, place: place, mode: mode).verdicts()
    }
    tell("\(place) \(mode)", verdicts)
    return verdicts
  }

  /// Prints the results and failures if the environment asks for it.
  private func tell(_ way: String, _ verdicts: [CacheSuiteRun.Verdict]) {
    guard ProcessInfo.processInfo.environment["LARDER_CACHE_SUITE"] != nil else { return }
    let failed = verdicts.filter { !$0.faults.isEmpty }
    print(
      "SUITE \(way) \(verdicts.first?.test.kind ?? "required"): \(verdicts.count) tests, \(failed.count) fail"
    )
    for verdict in failed.sorted(by: { $0.test.id < $1.test.id }) {
      print("SUITE   \(verdict.test.id): \(verdict.faults.joined(separator: "; "))")
    }
  }

  @Test(arguments: ways)
  func `every required test that applies passes`(
    _ place: CacheSuitePlace,
    _ mode: CacheSuiteRun.Mode
  ) throws {
    let verdicts = try verdicts(place, mode) { $0.isRequired }

    for verdict in verdicts {
      #expect(verdict.faults.isEmpty, "\(verdict.test.id): \(verdict.test.name)")
    }
  }

  @Test(arguments: ways)
  func `every optional test that applies passes, or has a documented reason`(
    _ place: CacheSuitePlace,
    _ mode: CacheSuiteRun.Mode
  ) throws {
    let verdicts = try verdicts(place, mode) { $0.isOptimal }

    for verdict in verdicts where CacheSuiteExceptions.reasonUnmet(verdict.test) == nil {
      #expect(verdict.faults.isEmpty, "\(verdict.test.id): \(verdict.test.name)")
    }
  }
}
