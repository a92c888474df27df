import Testing

@testable import Catalog

/// Large bodies are read in windows, which are smaller bodies that together contain the whole one.
struct ListingWindowTests {
  /// Nine items whose texts contain brackets, quotes and commas, an item whose price cannot be
  /// read, an item without an id, and a number.
  private static let elements =
    (1...9).map {
      #"{"detail_hash": "H\#($0)", "title": "[\#($0)] \"a, b\" {\\", "badge": ["x", "y"], "s_price": "\#($0)00원"}"#
    } + [#"{"detail_hash": "H10", "title": "T", "s_price": "many"}"#, #"{"title": "T"}"#, "7"]

  private static let item =
    "item: {id: $.detail_hash, title: $.title, badges: $.badge, salePrice: $.s_price}\n"

  private static let array = "[" + elements.joined(separator: " ,\n ") + "]"

  private func file(_ lines: String) throws -> CatalogFile {
    try catalog(Self.item + lines, sections: "[{key: main, url: main}]")
  }

  private func split(_ body: [UInt8], _ lines: String = "", size: Int) throws
    -> ListingWindows?
  {
    ListingWindows(body, for: ListingDecoder(try file(lines), position: 0), size: size)
  }

  @Test(arguments: [
    ("\(array)", "items: $"),
    ("\u{FEFF}\n\(array)\n", "items: $"),
    ("{\"body\": \(array), \"statusCode\": 200}", "items: $.body"),
    ("{\"body\": \(array), \"statusCode\": 200}", "items: \"$.body[*]\""),
    (
      "{\"body\": \(array)}",
      "items: \"$.body[?@.detail_hash || @.badge[?@ == 'x'] || !@.badge]\""
    ),
    (
      "{\"body\": \(array), \"about\": {\"name\": \"Mains\", \"list\": [{\"name\": \"x\"}]}}",
      "items: $.body\nenvelope: {title: [\"$[1].name\", \"$[*].name\"]}"
    ),
    (
      "{\"total\": 40, \"items\": {\"of\": 1}, \"rows\": [{\"items\": []}], \"data\": {\"items\": \(array)}, \"next\": \"p2\"}",
      "items: [$.items, $.none, $.data.items]\npaging: {next: $.next}"
    ),
  ])
  func `the result does not depend on where a body is split`(body: String, lines: String) throws {
    let whole = try decode(body, Self.item + lines)

    for size in [1, 2, 90, 150, 400] {
      var windows = try #require(try split(bytes(body), lines, size: size))
      let (read, count) = try windows.joined()
      #expect(count > 1)
      #expect(read == whole, "\(size) bytes")
    }
    #expect(whole.sections[0].items.count == 10 && whole.skipped.map(\.index) == [9, 10, 11])
  }

  @Test func `a truncated or damaged body is never accepted by windows alone`() throws {
    let body = bytes(
      "{\"a\": [1, {\"b\": \"]\"}], \"items\": \(Self.array), \"z\": {\"items\": 1}}"
    )
    let lines = "items: $.items"
    var torn: [[UInt8]] = (1..<body.count).map { Array(body[..<$0]) }
    for place in body.indices where "[]{},:\"".utf8.contains(body[place]) {
      torn.append(Array(body[..<place] + body[(place + 1)...]))
      torn.append(Array(body[...place] + body[place...]))
    }
    for body in torn {
      let text = String(decoding: body, as: UTF8.self)
      guard var windows = try split(body, lines, size: 20) else { continue }
      let isRefused = (try? windows.joined()) == nil
      #expect(isRefused == (decodingError(text, Self.item + lines) != nil), "\(text)")
    }
  }

  @Test(arguments: [
    // Only the parser can decide between duplicate members, or read an escaped name.
    ("{\"items\": \(array), \"items\": \(array)}", "items: $.items"),
    ("{\"it\\u0065ms\": [], \"items\": \(array)}", "items: $.items"),
    // The first name has its accent as a character of its own, so it is another name than that of the path.
    (
      "{\"cafe\u{301}\": \(array), \"items\": \(array)}",
      "items: [\"$.caf\u{E9}\", $.items]"
    ),
    // A path that refers to all items at once needs the whole body.
    ("{\"items\": \(array)}", "items: $.items\npaging: {next: \"$.items[-1].detail_hash\"}"),
    ("{\"items\": \(array)}", "items: $.items\nenvelope: {title: \"$..title\"}"),
    ("{\"items\": \(array), \"is\": \"T\"}", "items: \"$.items[?@.title != $.is]\""),
    ("{\"items\": \(array), \"is\": \"T\"}", "items: \"$.items[?@.badge[?@ != $.is]]\""),
    ("{\"items\": \(array)}", "items: \"$.items[1:]\""),
    ("{\"items\": [\(array), \(array)]}", "items: \"$.items[*]\""),
    ("{\"items\": \(array)}", "items: $.items\ntransform: ."),
    // Each window repeats the members around the items, so they must be small.
    (
      "{\"pad\": \"\(String(repeating: "x", count: 600_000))\", \"items\": \(array)}",
      "items: $.items"
    ),
    ("{\"items\": []}", "items: $.items"),
    ("{\"other\": \(array)}", "items: $.items"),
  ])
  func `a body that windows could misread is read whole`(body: String, lines: String) throws {
    #expect(try split(bytes(body), lines, size: 5) == nil)
  }

  @Test func `a small body is not split`() throws {
    #expect(try split(bytes(Self.array), "items: $", size: Self.array.utf8.count / 2) == nil)
  }
}

extension ListingWindows {
  /// Decodes all windows, joins their results and counts them.
  mutating func joined() throws(CatalogError) -> (listing: DecodedListing, count: Int) {
    var (whole, count) = (DecodedListing(), 0)
    while let part = try next() {
      whole.append(part)
      count += 1
    }
    whole.settleAbsence()
    return (whole, count)
  }
}
