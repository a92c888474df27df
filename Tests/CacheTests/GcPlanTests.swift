import Base
import Testing

@testable import Cache

/// The plan of `larder gc`: the pictures that it will remove.
struct GcPlanTests {
  private static let day: Int64 = 86_400
  private static let now = UnixTime(1_000 * day)

  /// A picture of 100 bytes.
  ///
  /// The arguments are the number of days since its last use, and since a catalog last referred to it.
  private static func picture(
    _ number: Int64,
    used: Int64 = 0,
    unreferenced: Int64? = nil,
    content: Int64? = nil
  ) -> GcPlan.Picture {
    GcPlan.Picture(
      id: PictureID(IdentityDigest(high: 0, low: UInt64(number))),
      url: "http://shop.test/\(number).jpg",
      bytes: 100,
      content: content ?? number,
      used: now + -used * day,
      unreferenced: unreferenced.map { now + -$0 * day }
    )
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var pictures: [GcPlan.Picture]
    var limits = GcPlan.Limits()
    var goes: [Int64]
    var reasons: [GcPlan.Reason]
    var freed: ByteCount
    var over: ByteCount = 0
  }

  private static let cases = [
    Case(
      testDescription: "what nobody refers to goes after its grace",
      pictures: [
        picture(1), picture(2, unreferenced: 6), picture(3, unreferenced: 7),
        picture(4, used: 900),
      ],
      goes: [3],
      reasons: [.unreferenced],
      freed: 100
    ),
    Case(
      testDescription: "a mark from the future is a clock that was set back",
      pictures: [picture(1, unreferenced: -5)],
      limits: GcPlan.Limits(grace: 0),
      goes: [],
      reasons: [],
      freed: 0
    ),
    Case(
      testDescription: "size takes what was dropped longest ago, and no more than it must",
      pictures: [
        picture(1), picture(2, unreferenced: 1), picture(3, unreferenced: 3),
        picture(4, unreferenced: 2),
      ],
      limits: GcPlan.Limits(maxBytes: 200),
      goes: [3, 4],
      reasons: [.size, .size],
      freed: 200
    ),
    Case(
      testDescription:
        "size never takes what catalogs refer to, and says by how much it is too much",
      pictures: [picture(1, used: 9), picture(2, used: 8), picture(3, unreferenced: 1)],
      limits: GcPlan.Limits(maxBytes: 150),
      goes: [3],
      reasons: [.size],
      freed: 100,
      over: 50
    ),
    Case(
      testDescription: "equal bytes count once, and are freed with the last that holds them",
      pictures: [
        picture(1, content: 7), picture(2, unreferenced: 9, content: 7),
        picture(3, unreferenced: 9, content: 8), picture(4, unreferenced: 9, content: 8),
      ],
      goes: [2, 3, 4],
      reasons: [.unreferenced, .unreferenced, .unreferenced],
      freed: 100
    ),
    Case(
      testDescription: "an empty cache has nothing to lose",
      pictures: [],
      limits: GcPlan.Limits(grace: 0, maxBytes: 1),
      goes: [],
      reasons: [],
      freed: 0
    ),
  ]

  @Test(arguments: cases)
  func `a plan removes exactly the pictures that its limits require`(_ example: Case) {
    let plan = GcPlan(example.pictures, limits: example.limits, now: Self.now)

    #expect(plan.removals.map { Int64($0.picture.id.digest.low) } == example.goes)
    #expect(plan.removals.map(\.reason) == example.reasons)
    #expect(plan.bytesFreed == example.freed)
    #expect(plan.bytesOver == example.over)
    let distinct = Set(example.pictures.map(\.content)).count
    #expect(plan.bytesKept == ByteCount(100 * distinct) - example.freed)
  }

  @Test func `another user's folder is refused, with a different remedy for root`() {
    #expect(Folder.refusal(of: "cache", owner: 1000, user: 1000) == nil)
    #expect(Folder.refusal(of: "cache", owner: 1000, user: 1001)?.remedy == .ownFolder)
    let root = Folder.refusal(of: "cache", owner: 1000, user: 0)
    #expect(root?.problem.contains("as that user") == true)
  }
}
