import Base
import Catalog
import FoundationEssentials
import Pipeline
import Support
import Testing

@testable import Sharding

/// A plan in a folder that somebody else can write.
@Suite struct PlanTrustTests {
  /// A plan to which an attacker has added lines of the catalog file, with correct digests.
  private static func plan(_ lines: String) throws -> (ShardedShop, PlannedRun) {
    let shop = try ShardedShop(SampleShop())
    try shop.plan(2)
    let place = shop.folder.path("plan")
    let text =
      try Data(contentsOf: URL(filePath: "\(place)/catalog.yaml")) + Data("\n\(lines)\n".utf8)
    try text.write(to: URL(filePath: "\(place)/catalog.yaml"))
    let file = URL(filePath: "\(place)/plan.json")
    var plan = try JSONDecoder().decode(ShardPlan.self, from: Data(contentsOf: file))
    plan.catalogFile = FileSum(of: text)
    try Data(plan.jsonLine() + [10]).write(to: file)
    return (shop, try shop.planned)
  }

  @Test(
    arguments: [
      ("headers: {T: \"${SHOP_TOKEN}\"}", ["SHOP_TOKEN"], nil),
      ("headers: {T: \"${SHOP_TOKEN}\"}", [], "SHOP_TOKEN"),
      ("headers: {T: \"${SHOP_TOKEN}\", U: \"a ${HOME}\"}", ["SHOP_TOKEN"], "HOME"),
      ("headers: {T: \"${PATH}\"}", [], "PATH"),
      (
        "headers: {T: \"${AWS_SECRET_ACCESS_KEY}\"}", ["AWS_SECRET_ACCESS_KEY"],
        "AWS_SECRET_ACCESS_KEY"
      ),
      ("headers: {T: \"${LARDER_WEBHOOK_URL}\"}", ["LARDER_WEBHOOK_URL"], "LARDER_WEBHOOK_URL"),
      ("headers: {T: \"${aws_session_token}\"}", ["aws_session_token"], "aws_session_token"),
      ("pictures: {headers: {cdn.example: {T: \"${OTHER}\"}}}", ["SHOP_TOKEN"], "OTHER"),
      ("headers: {T: plain}", [], nil),
    ] as [(String, Set<String>, String?)]
  )
  func `a plan gets only allowed variables, never those of a store or of larder`(
    _ lines: String,
    _ allowed: Set<String>,
    _ refused: String?
  ) throws {
    let (_, planned) = try Self.plan(lines)

    let trust = PlanTrust(variables: allowed)

    #expect(trust.fault(of: planned) == refused.map(PlanTrust.Fault.variable))
    let all = [
      "SHOP_TOKEN": "s", "AWS_SECRET_ACCESS_KEY": "k", "LARDER_WEBHOOK_URL": "u", "PATH": "/bin",
      "aws_session_token": "t", "OTHER": "o",
    ]
    let given =
      allowed.contains("SHOP_TOKEN") ? ["SHOP_TOKEN": "s", "PATH": "/bin"] : ["PATH": "/bin"]
    #expect(trust.environment(all) == given)
  }

  @Test func `a plan's token command runs only when the plan's digest was given`()
    throws
  {
    let (_, planned) = try Self.plan("token: {header: T, command: [touch, RAN]}")
    let digest = planned.digest

    #expect(planned.catalog.token != nil)
    #expect(PlanTrust(variables: []).admitted(planned).catalog.token == nil)
    #expect(PlanTrust(variables: [], digest: digest).admitted(planned).catalog.token != nil)
  }

  @Test func `a plan with another digest than the given one is refused`() throws {
    let (shop, forged) = try Self.plan("headers: {T: plain}")
    let made = try #require(try shop.plan(2, out: "second").plan)

    #expect(made.digest == (try PlannedRun(shop.folder.path("second"))).digest)
    #expect(
      PlanTrust(variables: [], digest: made.digest).fault(of: forged)
        == .digest(forged.digest)
    )
    #expect(PlanTrust(variables: [], digest: forged.digest).fault(of: forged) == nil)
  }

  @Test(arguments: ["", "../../elsewhere", "a/b", ".../\\n", String(repeating: "a", count: 65)])
  func `a plan whose run is no name of a folder is refused`(_ run: String) throws {
    let shop = try ShardedShop(SampleShop())
    try shop.plan(2)
    let text = String(decoding: try shop.folder.read("plan/plan.json"), as: UTF8.self)
    let forged = text.replacing(/"run":"[^"]*"/, with: "\"run\":\"\(run)\"")
    try shop.folder.write(Array(forged.utf8), to: "plan/plan.json")

    #expect(forged != text)
    #expect(throws: LarderError.self) { try shop.planned }
  }

  @Test func `a plan is printed with its digest, which its file cannot contain`() throws {
    let shop = try ShardedShop(SampleShop())
    let plan = try #require(try shop.plan(2).plan)
    let written = try Data(contentsOf: URL(filePath: shop.folder.path("plan/plan.json")))

    let printed = String(decoding: try plan.jsonLine(), as: UTF8.self)

    #expect(printed.contains("\"digest\":\"\(try #require(plan.digest))\""))
    #expect(plan.digest == FileSum(of: written).sha256)
    #expect(!String(decoding: written, as: UTF8.self).contains("digest"))
  }
}
