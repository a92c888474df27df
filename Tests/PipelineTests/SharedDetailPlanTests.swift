import Support
import Testing
import Transport

@testable import Pipeline

/// Details that are all in one document: the plan says what the run then asks for.
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

  /// What the plan says of details, and what the run asks for then.
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
  func `the plan asks for the one document as the run does`(control: String, method: String) throws
  {
    shop["/details"] = ScriptedShop.Answer(
      fields: ["Cache-Control: \(control)"],
      body: Self.details,
      tag: "\"1\""
    )
    // What a section lists for the first time is in no plan.
    _ = try compare(warm: false, method: method)
    for (warm, later) in [(false, 0), (false, 1), (true, 1), (true, 90), (false, 1), (true, 0)] {
      shop.clock.advance(Int64(later))
      let (planned, asked) = try compare(warm: warm, method: method)
      #expect(planned == asked, "\(warm ? "warm" : "sync") after \(later) s")
    }
  }
}
