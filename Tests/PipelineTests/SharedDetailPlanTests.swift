import Support
import Testing

@testable import Pipeline

/// The plan of a dry run for a catalog in which one document has the details of all items.
///
/// The plan predicts whether the run requests this document.
struct SharedDetailPlanTests {
  private let shop: ScriptedShop

  init() throws {
    shop = try ScriptedShop()
    shop["/list"] = ScriptedShop.Answer(
      fields: ["Cache-Control: no-cache"],
      body: Array(
        #"[{"detail_hash": "A1", "title": "a"}, {"detail_hash": "A2", "title": "b"}, {"detail_hash": "A3", "title": "c"}]"#
          .utf8
      )
    )
  }

  private static let details = Array(
    #"[{"hash": "A1", "data": {"product_description": "one"}}, {"hash": "A2", "data": {"product_description": "two"}}]"#
      .utf8
  )

  /// The planned requests for details, and those of the run that follows.
  private func compare(warm: Bool, method: String) throws -> (planned: [String], asked: [String]) {
    let lines =
      "detail: {url: details\(method == "POST" ? ", request: {method: POST, body: '{}'}" : "")}"
    let plan = try shop.plan(warm: warm, lines: lines).details
    shop.forget()
    try shop.run(warm: warm, lines: lines)
    let asked = shop.asked.filter { $0.path == "/details" }.map {
      $0.header("If-None-Match") == nil ? "fetch" : "revalidate"
    }
    return (
      plan.fetch.map { _ in "fetch" } + plan.revalidate.map { _ in "revalidate" }, asked
    )
  }

  @Test(arguments: ["max-age=60", "no-cache"], ["GET", "POST"])
  func `the plan predicts whether a run requests the shared details`(
    control: String,
    method: String
  ) throws {
    shop["/details"] = ScriptedShop.Answer(
      fields: ["Cache-Control: \(control)"],
      body: Self.details,
      tag: "\"1\""
    )
    // A plan cannot contain details of sections that are listed for the first time.
    _ = try compare(warm: false, method: method)
    for (warm, later) in [(false, 0), (false, 1), (true, 1), (true, 90), (false, 1), (true, 0)] {
      shop.clock.advance(Int64(later))
      let (planned, asked) = try compare(warm: warm, method: method)
      #expect(planned == asked, "\(warm ? "warm" : "sync") after \(later) s")
    }
  }

  /// Changes the document at random before the next run.
  private func live(_ random: inout SplitMix64, version: inout Int) {
    if random.happens(0.3) { version += 1 }
    let control = random.pick([
      ("max-age=60", weight: 4), ("no-cache", weight: 2), ("no-store", weight: 1),
      ("max-age=60, stale-if-error=600", weight: 1), ("private, max-age=60", weight: 1),
    ])
    let body = String(decoding: Self.details, as: UTF8.self)
      .replacing("one", with: "version \(version)")
    shop["/details"] = ScriptedShop.Answer(
      status: random.pick([(200, weight: 8), (503, weight: 1), (404, weight: 1)]),
      fields: ["Cache-Control: \(control)"],
      body: random.happens(0.9) ? Array(body.utf8) : Array("<p>Away".utf8),
      tag: random.happens(0.8) ? "\"\(version)\"" : nil
    )
    shop.clock.advance(
      random.pick([
        (0, weight: 2), (1, weight: 2), (59, weight: 1), (60, weight: 1), (61, weight: 1),
        (4_000, weight: 1), (100_000, weight: 1), (-30, weight: 1),
      ])
    )
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>, ["GET", "POST"])
  func `after any history the plan predicts whether a run requests the shared details`(
    seed: UInt64,
    method: String
  ) throws {
    var (random, version) = (SplitMix64(seed), 0)
    live(&random, version: &version)
    // A plan cannot contain details of sections that are listed for the first time.
    _ = try compare(warm: false, method: method)
    var history: [String] = []
    var counts: [String: Int] = [:]
    for step in 1...30 {
      live(&random, version: &version)
      let warm = random.happens(0.7)
      let (planned, asked) = try compare(warm: warm, method: method)
      history.append("\(warm ? "warm" : "sync") at \(shop.clock.now): \(asked)")
      counts[asked.first ?? "none", default: 0] += 1
      #expect(planned == asked, "step \(step) of \(history)")
    }
    // Every kind of plan has occurred. The answer to a POST is never fresh.
    #expect(Set(counts.keys) == (method == "POST" ? ["fetch"] : ["none", "fetch", "revalidate"]))
  }
}
