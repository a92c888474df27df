/// The reasons to skip tests, because they do not apply to larder, to a kind of resource or to a command.
enum CacheSuiteExceptions {
  /// A reason and the tests it applies to.
  struct Rule: Sendable {
    let reason: String
    let covers: @Sendable (CacheSuite.Case, CacheSuitePlace, CacheSuiteRun.Mode) -> Bool
  }

  /// The reason why a test is skipped; nil if it is not skipped.
  static func reason(
    _ test: CacheSuite.Case,
    _ place: CacheSuitePlace,
    _ mode: CacheSuiteRun.Mode
  ) -> String? {
    rules.first { $0.covers(test, place, mode) }?.reason
  }

  static let rules = [
    Rule(reason: "larder reads with GET alone") { test, _, _ in
      test.requests.contains { $0.request_method != nil }
    },
    Rule(reason: "the suite's client asks in words that larder's requests never hold") {
      test,
      _,
      _ in
      let words: Set = [
        "range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since",
        "if-range", "cache-control", "pragma",
      ]
      return test.requests.contains { step in
        (step.request_headers ?? []).contains { words.contains($0.name.lowercased()) }
      }
    },
    Rule(reason: "larder never asks in parts whose whole it did not begin") { test, _, _ in
      test.id.hasPrefix("partial-")
    },
    Rule(reason: "a browser's reload, which larder does not have") { test, _, _ in
      test.requests.contains { $0.cache != nil }
    },
    Rule(reason: "for a content delivery network; larder is a private cache") { test, _, _ in
      test.cdn_only == true
    },
    Rule(reason: "for a shared cache; larder is a private one") { test, _, _ in
      shared.contains(test.id)
    },
    Rule(reason: "a catalog's headers go to no picture") { test, place, _ in
      place == .picture && test.requests.contains { $0.request_headers?.isEmpty == false }
    },
    Rule(reason: "the URL of a detail is made of its item's id") { test, place, _ in
      place == .detail && test.requests.contains { $0.query_arg != nil }
    },
    Rule(reason: "sync asks for every section, fresh or not") { test, place, mode in
      place == .section && mode == .sync
        && test.requests.contains { $0.expected_type == "cached" }
    },
    Rule(reason: "libcurl refuses an unknown transfer coding") { test, _, _ in
      test.id == "headers-store-Transfer-Encoding"
    },
  ]

  /// The reason why an optional test fails; nil if it must pass.
  static func reasonUnmet(_ test: CacheSuite.Case) -> String? {
    unmet.first { $0.covers(test, .picture, .sync) }?.reason
  }

  private static let unmet = [
    Rule(reason: "an error, or no content, is nothing that larder holds: it asks again") {
      test,
      _,
      _ in
      test.requests.contains { step in
        step.response_status.map { $0.code >= 400 || $0.code == 204 } ?? false
      }
    },
    Rule(reason: "nobody waits for larder's answer: what is stale is asked about first") {
      test,
      _,
      _ in
      test.id == "stale-while-revalidate"
    },
    Rule(reason: "another value of a catalog's header may be another customer's") { test, _, _ in
      Set(test.requests.map { $0.request_headers ?? [] }).count > 1
    },
  ]

  private static let shared: Set = [
    "freshness-s-maxage-shared", "freshness-max-age-s-maxage-shared-longer",
    "freshness-max-age-s-maxage-shared-longer-reversed",
    "freshness-max-age-s-maxage-shared-longer-multiple",
    "freshness-max-age-s-maxage-shared-shorter",
    "freshness-max-age-s-maxage-shared-shorter-expires", "cc-resp-private-shared",
    "stale-close-proxy-revalidate", "stale-close-s-maxage=2", "other-authorization-smaxage",
    "other-authorization-must-revalidate",
  ]
}
