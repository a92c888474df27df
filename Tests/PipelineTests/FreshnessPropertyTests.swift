import Base
import Cache
import Support
import Testing
import Transport

@testable import Pipeline

/// Compares two decisions about freshness for many random responses.
///
/// One decision reads two columns of the index, the other the whole response.
struct FreshnessPropertyTests {
  /// A seeded random generator. (SplitMix64)
  private struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static let controls = [
    nil, nil, "max-age=60", "max-age=0", "max-age=99999999999", "no-cache, max-age=9", "no-store",
    "private, max-age=60", "public, max-age=60", "max-age=60, no-store",
    "max-age=1.5", "max-age=60, stale-if-error=60", "public",
  ]
  private static let varies = [nil, nil, nil, "*", "Accept", "X-Shop, Accept", "X-Other"]
  private static let tags = [nil, "\"1\"", "W/\"1\"", "\"\u{FC}\"", "junk"]

  private static func headers(_ now: UnixTime, _ chance: inout Chance) -> Headers {
    func moment(_ chance: inout Chance) -> String {
      Bool.random(using: &chance)
        ? (now + Int64.random(in: -500...500, using: &chance)).httpDate
        : ["0", "", "Thu, 18 Aug 50 02:01:18 GMT", (now + 400_000_000).httpDate]
          .randomElement(using: &chance) ?? ""
    }
    var headers = Headers()
    if let control = controls.randomElement(using: &chance) ?? nil {
      headers.append("Cache-Control", control)
    }
    if let vary = varies.randomElement(using: &chance) ?? nil { headers.append("Vary", vary) }
    if let tag = tags.randomElement(using: &chance) ?? nil { headers.append("ETag", tag) }
    for name in ["Expires", "Last-Modified", "Date"] where Bool.random(using: &chance) {
      headers.append(name, moment(&chance))
    }
    if Int.random(in: 0..<4, using: &chance) == 0 {
      let ages = ["0", "30", "-30", "30.5", "30, 0", "99999999999"]
      headers.append("Age", ages.randomElement(using: &chance) ?? "")
    }
    return headers
  }

  private static func head(_ now: UnixTime, _ chance: inout Chance) -> ResponseHead {
    let hops = (0..<max(0, Int.random(in: -2...2, using: &chance))).map { _ in
      Redirect(
        status: [301, 302, 307, 308].randomElement(using: &chance) ?? 302,
        headers: headers(now, &chance)
      )
    }
    return ResponseHead(
      status: [200, 200, 200, 203, 299].randomElement(using: &chance) ?? 200,
      headers: headers(now, &chance),
      url: WebURL(scheme: .https, host: "a.example", path: "/v1"),
      redirects: hops
    )
  }

  private static func traits(_ chance: inout Chance) -> CacheKeyFields {
    let shop = ["kr", "jp"].randomElement(using: &chance) ?? ""
    return CacheKeyFields(
      fields: ["Accept": "a", "X-Shop": shop],
      credentials: Bool.random(using: &chance) ? ["token": shop] : [:],
      digest: ContentDigest.number(of:)
    )
  }

  @Test func `an index row is as fresh as its full response, over many cases`() {
    var chance = Chance(state: 9111)
    let start = UnixTime(1_800_000_000)
    for number in 0..<(Sweep.isWhole ? 2_500 : 500) {
      let answered = start + Int64.random(in: 0...9, using: &chance)
      let head = Self.head(start, &chance)
      let asking = Self.traits(&chance)
      let word = StoredResponse(
        head,
        requestTime: start,
        responseTime: answered,
        traits: asking
      )
      var fields = head.headers.endToEnd
      fields["Vary"] = word.headers["Vary"]
      let plain = StoredResponse(
        status: head.status,
        headers: fields,
        requestTime: start,
        responseTime: answered,
        path: word.path,
        selection: word.selection,
        owner: word.owner
      )
      var picture = PictureEntry(
        id: PictureID(IdentityDigest(high: 0, low: 1)),
        url: "https://a.example/x"
      )
      picture.sha256 = [1]
      picture.enter(word)
      var document = DocumentEntry(url: "https://a.example/x", mapping: 1)
      (document.response, document.expiry) = (word.word, word.expiry)

      for later in [-301, -300, 29, 60, 500, 400_000_000] as [Int64] {
        let now = answered + later
        let other = Self.traits(&chance)
        for traits in [asking, other] {
          let expected = plain.freshness(at: now, for: traits)
          #expect(
            picture.freshness(at: now, for: traits, onlyDue: true) == expected,
            "\(number) \(head.headers.text)"
          )
          #expect(
            document.freshness(at: now, for: traits) == expected,
            "\(number) \(head.headers.text)"
          )
        }
        // The two columns tell only whether a request is necessary, and only if it has the same header fields as
        // before.
        #expect(picture.isCurrent(at: now) == plain.freshness(at: now, for: asking).isQuiet)
      }
    }
  }

  @Test
  func `headers renewed by a 304 are as fresh as the renewed response, over many cases`()
    throws
  {
    var chance = Chance(state: 304)
    let start = UnixTime(1_800_000_000)
    for number in 0..<(Sweep.isWhole ? 1_000 : 300) {
      let (head, update) = (Self.head(start, &chance), Self.head(start + 100, &chance))
      let traits = Self.traits(&chance)
      let old = StoredResponse(head, requestTime: start, responseTime: start, traits: traits)
      let plain = old.renewed(
        by: update,
        requestTime: start + 100,
        responseTime: start + 101,
        traits: traits
      )
      let word = StoredResponse(
        renewing: old.word,
        by: update,
        asked: start + 100,
        answered: start + 101,
        traits: traits
      )

      #expect((plain == nil) == (word == nil), "\(number)")
      guard let plain, let word else { continue }
      var document = DocumentEntry(url: "x", mapping: 1)
      (document.response, document.expiry) = (word.word, word.expiry)
      for later in [0, 29, 60, 161, 500] as [Int64] {
        let now = start + 100 + later
        #expect(
          document.freshness(at: now, for: traits) == plain.freshness(at: now, for: traits),
          "\(number) \(head.headers.text)\(update.headers.text)"
        )
      }
    }
  }

  /// Header fields as older versions of larder stored them, without data about redirects, credentials and Vary.
  @Test func `stored headers of an older form are used, although they record less`() throws {
    let text = "1800000000 1800000001\nETag: \"\u{E9}\"\nCache-Control: max-age=60\nVary: X\n"
    let stored = try #require(StoredResponse(word: text))
    let traits = CacheKeyFields(fields: [:], digest: ContentDigest.number(of:))
    let other = CacheKeyFields(
      fields: ["token": "t"],
      credentials: ["token": "t"],
      digest: ContentDigest.number(of:)
    )

    #expect(stored.status == 200 && stored.path == nil && stored.selection == nil)
    #expect(stored.expiry == UnixTime(1_800_000_060))
    #expect(stored.answers(traits) && !stored.answers(other))
  }

  @Test(arguments: ["", "x", "1", "1 2", "\n", "a b\n", "1 2 from=\n", "1 2 until=x from=y =\n"])
  func `invalid stored headers do no harm`(_ text: String) {
    _ = StoredResponse(word: text)
    var document = DocumentEntry(url: "x", mapping: 1)
    (document.response, document.expiry) = (text, .distantFuture)

    _ = document.freshness(at: UnixTime(0), for: nil)
  }
}
