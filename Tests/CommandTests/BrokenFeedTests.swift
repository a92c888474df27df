import Foundation
import SampleStore
import Support
import Testing

/// The ways in which the data that a shop sends may be broken.
///
/// In each case no stored data is lost, except for an item that the feed no longer identifies. One
/// line of the error output names the section, the field and what to do.
@Suite struct BrokenFeedTests {
  /// A way to break the data of a shop, with the exit statuses and the words that the runs must
  /// give.
  struct Case: Sendable, CustomTestStringConvertible {
    /// What the shop did, as the name of the case.
    var name: String
    /// The exit status of a first sync.
    var first: Int32
    /// The exit status of a run that follows a good run.
    var second: Int32
    /// Words that one line must contain: the section, the field and what to do.
    var words: [String]
    /// Whether one response contains all sections.
    var isCombined = false
    /// The words of a first sync, which does not know an earlier state; nil if the words are the
    /// same as ``words``.
    var firstWords: [String]?
    /// The items that the next run leaves out, because the feed no longer says which items they are.
    var leftOut: [String] = []
    /// Breaks the feed.
    var breaks: @Sendable (BrokenShop) -> Void

    var testDescription: String { name }
  }

  private static let path = "correct the path"
  private static let allow = "--allow-removals"

  /// Changes every item of section `main`.
  private static func each(
    _ name: String,
    first: Int32,
    second: Int32,
    _ words: [String],
    firstWords: [String]? = nil,
    leftOut: [String] = [],
    _ change: @escaping @Sendable (inout [String: Any]) -> Void
  ) -> Case {
    Case(
      name: name,
      first: first,
      second: second,
      words: words,
      firstWords: firstWords,
      leftOut: leftOut
    ) { shop in
      let items = BrokenShop.items("M", 8).map { item in
        var item = item
        change(&item)
        return item
      }
      shop.put(BrokenShop.text(["items": items]), at: "/main")
    }
  }

  /// Replaces the body of section `main`.
  private static func body(
    _ name: String,
    first: Int32 = 3,
    second: Int32 = 3,
    _ words: [String],
    firstWords: [String]? = nil,
    _ bytes: [UInt8]
  ) -> Case {
    Case(name: name, first: first, second: second, words: words, firstWords: firstWords) {
      $0.put(bytes, at: "/main")
    }
  }

  /// Replaces the sections of the combined response.
  private static func sections(
    _ name: String,
    first: Int32,
    second: Int32,
    _ words: [String],
    firstWords: [String]? = nil,
    _ change: @escaping @Sendable (inout [[String: Any]]) -> Void
  ) -> Case {
    Case(
      name: name,
      first: first,
      second: second,
      words: words,
      isCombined: true,
      firstWords: firstWords
    ) { shop in
      var sections = BrokenShop.sections
      change(&sections)
      shop.put(BrokenShop.text(["sections": sections]), at: "/all")
    }
  }

  private static let good = BrokenShop.text(["items": BrokenShop.items("M", 8)])
  private static let html = Array("<!doctype html><html><body>Maintenance</body></html>".utf8)

  static let fields: [Case] = [
    each("title renamed", first: 3, second: 4, ["section main", "name", path]) {
      $0["label"] = $0.removeValue(forKey: "name")
    },
    each("title nulled", first: 3, second: 4, ["section main", "name", path]) {
      $0["name"] = NSNull()
    },
    each("title emptied", first: 3, second: 4, ["section main", "name", path]) { $0["name"] = "" },
    each("title nested deeper", first: 3, second: 4, ["section main", "name", path]) {
      $0["name"] = ["ko": $0["name"]]
    },
    each("title as a list", first: 3, second: 4, ["section main", "name", path]) {
      $0["name"] = [$0["name"]]
    },
    each("id renamed", first: 3, second: 4, ["section main", "id", path]) {
      $0["sku"] = $0.removeValue(forKey: "id")
    },
    each("ids all null", first: 3, second: 4, ["section main", "id", path]) {
      $0["id"] = NSNull()
    },
    each("ids all equal", first: 3, second: 3, ["section main", "same id", "correct"]) {
      $0["id"] = "M1"
    },
    each("picture renamed", first: 3, second: 4, ["section main", "images.thumbnail", path]) {
      $0["photo"] = $0.removeValue(forKey: "picture")
    },
    each("picture nulled", first: 3, second: 4, ["section main", "images.thumbnail", path]) {
      $0["picture"] = NSNull()
    },
    each(
      "picture an empty list",
      first: 0,
      second: 4,
      ["section main", "images.thumbnail", path],
      firstWords: []
    ) { $0["picture"] = [String]() },
    each("description renamed", first: 3, second: 4, ["section main", "description", path]) {
      $0["about"] = $0.removeValue(forKey: "text")
    },
    each("price renamed", first: 3, second: 4, ["section main", "salePrice", path]) {
      $0["cost"] = $0.removeValue(forKey: "price")
    },
    each("price in words", first: 3, second: 4, ["section main", "salePrice", path]) {
      $0["price"] = "call us"
    },
    each("price as text", first: 0, second: 0, []) { $0["price"] = "1,001원" },
    each("half the items malformed", first: 3, second: 4, ["section main", "4 of its 8"]) {
      if ($0["id"] as? String ?? "") > "M4" { $0 = ["error": "not found"] }
    },
    each("one title malformed", first: 0, second: 0, ["section main", "(M3)", "name"]) {
      if $0["id"] as? String == "M3" { $0["name"] = ["x": "y"] }
    },
    each(
      "one item without an id",
      first: 0,
      second: 0,
      ["section main", "item 2", "id"],
      leftOut: ["M3"]
    ) {
      if $0["id"] as? String == "M3" { $0["id"] = NSNull() }
    },
  ]

  static let bodies: [Case] = [
    body("items renamed", ["section main", "$.items", "correct \"items\""], text("products")),
    body("items null", ["section main", "$.items"], Array("{\"items\": null}".utf8)),
    body("items an object", ["section main", "$.items"], Array("{\"items\": {\"M1\": {}}}".utf8)),
    body("an object of nothing", ["section main", "$.items"], Array("{}".utf8)),
    body(
      "nested deeper",
      ["section main", "$.items"],
      BrokenShop.text(["data": ["items": BrokenShop.items("M", 8)]])
    ),
    body("unwrapped", ["section main", "$.items"], BrokenShop.text(BrokenShop.items("M", 8))),
    body(
      "items in a list of one",
      first: 3,
      second: 4,
      ["section main", "correct \"items\""],
      BrokenShop.text(["items": [BrokenShop.items("M", 8)]])
    ),
    body(
      "an empty list",
      first: 0,
      second: 4,
      ["section main", "8 items", allow],
      firstWords: [],
      Array("{\"items\": []}".utf8)
    ),
    body("an HTML page with 200", ["section main", "an HTML page, not JSON"], html),
    body("nothing at all", ["section main", "expected a value"], []),
    body("text", ["section main", "$.items"], Array("\"maintenance\"".utf8)),
    body("doubled", ["section main", "after one value"], good + good),
    body(
      "a second document on the next line, which makes JSON Lines of both",
      ["section main", "$.items"],
      good + [10] + good
    ),
    body("a zero byte behind it", ["section main", "expected"], good + [0]),
    body("cut off", ["section main", "expected"], Array(good.prefix(good.count / 2))),
    body(
      "another charset",
      ["section main", "UTF-8"],
      Array("{\"items\": [{\"name\": \"".utf8) + [0xB9, 0xDD]
    ),
    body("UTF-16", ["section main", "UTF-8"], [0xFF, 0xFE] + good.flatMap { [$0, 0] }),
    body(
      "an error with 200",
      ["section main", "$.items"],
      BrokenShop.text(["error": ["code": 500, "message": "try later"]])
    ),
    body("a byte order mark", first: 0, second: 0, [], [0xEF, 0xBB, 0xBF] + good),
  ]

  static let sections: [Case] = [
    sections(
      "a section vanishes",
      first: 0,
      second: 4,
      ["section main", "8 items", allow],
      firstWords: []
    ) {
      $0.removeFirst()
    },
    sections(
      "all sections vanish",
      first: 0,
      second: 4,
      ["section soup", "4 items", allow],
      firstWords: []
    ) {
      $0 = []
    },
    sections("all sections emptied", first: 0, second: 4, ["section main", allow], firstWords: [])
    {
      for place in $0.indices { $0[place]["items"] = [Any]() }
    },
    sections("a key nulled", first: 3, second: 3, ["section", "$.key", "correct"]) {
      $0[0]["key"] = NSNull()
    },
    sections("a key repeated", first: 65, second: 3, ["section main", "same key", "correct"]) {
      $0[1]["key"] = "main"
    },
    sections(
      "a section's items null",
      first: 3,
      second: 3,
      ["section main", "$.items", "correct"]
    ) {
      $0[0]["items"] = NSNull()
    },
    sections("a section's items an object", first: 3, second: 3, ["section soup", "$.items"]) {
      $0[1]["items"] = ["S1": [String: String]()]
    },
    sections("titles numbers", first: 0, second: 0, []) {
      for place in $0.indices { $0[place]["title"] = place }
    },
  ]

  static let details: [Case] = [
    Case(
      name: "all details gone",
      first: 3,
      second: 4,
      words: ["12 of 12 details", allow],
      firstWords: ["any of 12 details", "correct detail.url"]
    ) { shop in for id in BrokenShop.ids { shop.put(nil, at: "/detail/\(id)") } },
    Case(name: "one detail gone", first: 0, second: 0, words: []) {
      $0.put(nil, at: "/detail/M1")
    },
    Case(name: "a detail of nothing", first: 3, second: 3, words: ["detail", "undecodable"]) {
      $0.put(Array("{}".utf8), at: "/detail/M1")
    },
  ]

  private static func text(_ name: String) -> [UInt8] {
    BrokenShop.text([name: BrokenShop.items("M", 8)])
  }

  static let all = fields + bodies + sections + details

  /// Each way with a command, which is alternately `sync` and `warm`.
  ///
  /// With `LARDER_SWEEPS=all`, each way is tried with both commands, and the broken feed is read by
  /// two runs.
  static let met: [(Case, String)] = all.enumerated().flatMap { place, broken in
    let commands = Sweep.isWhole ? ["sync", "warm"] : [place.isMultiple(of: 2) ? "sync" : "warm"]
    return commands.map { (broken, $0) }
  }

  /// Whether one line contains all the words.
  ///
  /// If there are no words, there must be no output.
  private func says(_ words: [String], _ errors: String) -> Bool {
    if words.isEmpty { return errors.isEmpty }
    return errors.split(separator: "\n").contains { line in words.allSatisfy(line.contains) }
  }

  @Test(arguments: met)
  func `a feed that breaks is reported, loses nothing even after a sweep, and recovers`(
    _ broken: Case,
    _ command: String
  ) throws {
    let shop = try BrokenShop(combined: broken.isCombined)
    broken.breaks(shop)

    let first = try shop.run("sync")
    shop.mend()
    let mended = try shop.run("sync")

    #expect(first.status == broken.first, "\(first.output)\(first.errors)")
    #expect(says(broken.firstWords ?? broken.words, first.errors), "\(first.errors)")
    #expect(mended.status == 0, "\(mended.output)\(mended.errors)")

    broken.breaks(shop)
    let runs = try (1...(Sweep.isWhole ? 2 : 1)).map { _ in try shop.run(command) }
    let swept = try shop.larder("gc", "--grace", "0s")

    for run in runs {
      #expect(run.status == broken.second, "\(run.output)\(run.errors)")
      #expect(says(broken.words, run.errors), "\(run.errors)")
    }
    #expect(swept.status == 0)
    // Everything that the mended feed listed is still there.
    #expect(try shop.missing() == broken.leftOut)
    shop.mend()
    #expect(try shop.run(command).status == 0)
    #expect(try shop.missing() == [])
  }
}
