import Base
import Cache
import Catalog
import CurlTransport
import Foundation
import Support
import Transport

@testable import Pipeline

/// Runs a group of tests with equal pauses and headers.
///
/// Each step of the group is one run of larder.
struct CacheSuiteRun {
  /// The command that each step runs.
  enum Mode: String, CaseIterable, Sendable {
    case sync
    case warm
  }

  /// The result of a test.
  struct Verdict: Sendable {
    let test: CacheSuite.Case
    /// The differences from the expected requests; an empty array if there are none.
    var faults: [String] = []
  }

  /// The length of a pause that a test asks for, in seconds.
  static let pause: Int64 = 3

  let cases: [CacheSuite.Case]
  let place: CacheSuitePlace
  let mode: Mode

  /// Splits the tests into groups whose steps can share one run each.
  static func groups(_ cases: [CacheSuite.Case]) -> [[CacheSuite.Case]] {
    let groups = Dictionary(grouping: cases) { test in
      test.requests.map { step in
        let fields = (step.request_headers ?? []).map { "\($0.name): \($0.value)" }
        // A test with a query needs another catalog file, and therefore its own group.
        return "\(step.pause_after == true) \(fields) \(step.query_arg == nil)"
      }
    }
    return groups.values.sorted { $0[0].id < $1[0].id }
  }

  func verdicts() throws -> [Verdict] {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    let origin = CacheSuiteOrigin(cases, place, clock)
    let server = ScriptedServer(origin.answer)
    defer { server.close() }
    var verdicts = cases.map { Verdict(test: $0) }
    var held = Array(repeating: nil as Int?, count: cases.count)

    for step in cases[0].requests.indices {
      origin.begin(step)
      let report = try run(step, folder, clock, server)
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
      for number in cases.indices {
        let seen = origin.seen(number)
        if let last = seen.last,
          [200, 203, 299].contains(last.status)
            || (300..<400).contains(last.status) && last.status != 304
        {
          held[number] = step
        }
        let config = cases[number].requests[step]
        verdicts[number].faults += Self.faults(config, seen, server, number, report)
          .map { "request \(step + 1) \($0)" }
        guard let version = held[number] else { continue }
        let shown = try self.shown(number, config, reader, folder)
        if shown != CacheSuiteOrigin.version(number, version) {
          let words = shown ?? "nothing"
          verdicts[number].faults.append("request \(step + 1) shows \(words), not body \(version)")
        }
      }
      if cases[0].requests[step].pause_after == true { clock.advance(Self.pause) }
    }
    return verdicts
  }

  private func run(
    _ step: Int,
    _ folder: TemporaryFolder,
    _ clock: TestClock,
    _ server: ScriptedServer
  ) throws -> SyncReport {
    var options = SyncOptions()
    options.onlyDue = mode == .warm
    var transport = TransportOptions()
    transport.namedHosts = [HostPort(host: "127.0.0.1", port: server.port)]
    transport.retry.retries = 0
    transport.breaker.failures = .max
    let curl = try CurlTransport(transport)
    defer { curl.shutdown() }
    return try SyncRun(
      try catalog(step, server),
      folder: folder.path,
      cache: folder.path("cache"),
      options: options,
      transport: curl,
      disk: SystemDisk(durable: false),
      now: { clock.now }
    ).run(holder: "a test")
  }

  private func catalog(_ step: Int, _ server: ScriptedServer) throws -> CatalogFile {
    var lines = ["name: suite", "currency: KRW", "base: \(server.url())"]
    switch place {
    case .section:
      let sections = cases.indices.map { number in
        let path = CacheSuiteOrigin.path(number, cases[number].requests[step])
        return "{key: s\(number), title: Test, url: \"\(path)\"}"
      }
      lines.append("sections: [\(sections.joined(separator: ", "))]")
    case .picture, .detail:
      lines.append("sections: [{key: all, title: All, url: list}]")
    }
    if place == .detail { lines.append("detail: {url: \"t/{id}\"}") }
    let fields = cases[0].requests[step].request_headers ?? []
    // Several fields of one name are sent as one field.
    let names = fields.map(\.name).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    let pairs = names.map { name in
      let values = fields.filter { $0.name == name }.map { $0.text(at: UnixTime(0)) }
      return "\(name): \"\(values.joined(separator: ", "))\""
    }
    if !pairs.isEmpty { lines.append("headers: {\(pairs.joined(separator: ", "))}") }
    return try CatalogFile(parsing: Array(lines.joined(separator: "\n").utf8), file: "s.yaml")
  }

  /// Compares the requests of a step with those expected.
  private static func faults(
    _ config: CacheSuite.Step,
    _ seen: [CacheSuiteOrigin.Seen],
    _ server: ScriptedServer,
    _ number: Int,
    _ report: SyncReport
  ) -> [String] {
    var faults: [String] = []
    // A broken connection and an unknown coding are retried.
    if seen.count > 1, config.expected_type != nil, config.disconnect != true {
      faults.append("was sent \(seen.count) times")
    }
    let hasFailed = report.failures.contains { $0.url.hasSuffix("/t/\(number)") }
    if config.disconnect == true, !hasFailed {
      faults.append("failed, and nobody says so")
    }
    let isSetup = config.setup == true || config.setup_tests?.contains("expected_type") == true
    switch config.expected_type {
    case _ where isSetup: break
    case "cached" where !seen.isEmpty: faults.append("asks the origin")
    case "not_cached" where seen.isEmpty: faults.append("does not ask the origin")
    case "etag_validated" where seen.first?.request.header("If-None-Match") == nil,
      "lm_validated" where seen.first?.request.header("If-Modified-Since") == nil:
      faults.append("is not conditional")
    case "etag_validated", "lm_validated":
      if seen.first?.status != 304 { faults.append("is conditional in other words") }
    default: break
    }
    for expected in config.expected_request_headers ?? [] {
      let value = seen.first?.request.header(expected.name)
      if value == nil || expected.value.map({ $0 != value }) ?? false {
        faults.append("sends \(value ?? "no") \(expected.name)")
      }
    }
    return faults
  }

  /// The version that larder shows for a test's URL.
  private func shown(
    _ number: Int,
    _ config: CacheSuite.Step,
    _ reader: CatalogReader,
    _ folder: TemporaryFolder
  ) throws -> String? {
    switch place {
    case .picture:
      let item = try reader.show("\(number)")
      guard let path = item?.pictures.first?.path else { return nil }
      let bytes = try folder.read("cache/\(path)")
      return String(decoding: bytes.dropFirst(6).dropLast(2), as: UTF8.self)
    case .detail:
      return try reader.show("\(number)")?.detail?.description
    case .section:
      return (try? reader.list(section: "s\(number)"))?.first?.item.title
    }
  }
}
