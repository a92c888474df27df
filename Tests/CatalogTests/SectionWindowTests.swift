import Testing

@testable import Catalog

/// A large body of many sections is read in windows too.
///
/// A window has several small sections, or a part of a large one.
struct SectionWindowTests {
  private static let item = "item: {id: $.id, title: $.title, badges: $.badge}\n"

  /// The items of one section, of which the last one cannot be read.
  private static func goods(_ ids: Range<Int>) -> String {
    let items = ids.map { #"{"id": "\#($0)", "title": "[\#($0)] \"a, b\" {\\"}"# }
    return "[\((items + [#"{"title": "T"}"#]).joined(separator: " ,\n"))]"
  }

  private static func menu(_ key: String, _ ids: Range<Int>, _ more: String = "") -> String {
    "{\"slug\": \(key), \"goods\": \(goods(ids))\(more)}"
  }

  private static let menus = [
    menu("\"a\"", 0..<2), menu("\"b\"", 2..<3, ", \"name\": \"B\""),
    menu("\"large\"", 3..<40, ", \"name\": {\"no\": \"text\"}"),
    menu("\"c\"", 40..<40), menu("null", 41..<60), menu("7", 61..<90),
    "{\"slug\": \"none\"}", menu("5", 90..<95), "7", menu("\"last\"", 95..<140),
  ]

  private static let body =
    "{\"of\": {\"menus\": [\(menus.joined(separator: " , "))]}, \"next\": \"p2\"}"

  private func file(_ more: String = "items: $.goods", each: String = "$.of.menus[*]") throws
    -> CatalogFile
  {
    try catalog(
      Self.item + more,
      sections: "[{url: main, each: \"\(each)\", key: $.slug, title: $.name}]"
    )
  }

  private func split(_ body: String, _ file: CatalogFile, size: Int) -> ListingWindows? {
    ListingWindows(bytes(body), for: ListingDecoder(file, position: 0), size: size)
  }

  @Test func `the result does not depend on where a body is split`() throws {
    let file = try file("items: $.goods\npaging: {next: $.next}")
    let whole = try decodeSource(bytes(Self.body), at: 0, using: file)

    for size in [1, 60, 90, 150, 400, 1000, 2000] {
      var windows = try #require(split(Self.body, file, size: size))
      let (read, count) = try windows.joined()
      #expect(count > 1)
      #expect(read == whole, "\(size) bytes")
    }
    #expect(whole.sections.map(\.key) == ["a", "b", "large", "c", "7", "5", "last"])
    #expect(whole.failed.map(\.index) == [4, 6, 8])
    #expect(whole.failed.map(\.key) == [nil, "none", nil])
    #expect(whole.sections[2].items.count == 37 && whole.sections[2].title == "large")
    #expect(whole.skipped.contains { $0.section == "large" && $0.index == 37 })
    #expect(whole.nextPage == "p2")
  }

  @Test func `a truncated or damaged body is never accepted by windows alone`() throws {
    let file = try file()
    let menus = [
      Self.menu("\"a\"", 0..<1), Self.menu("\"large\"", 1..<6), Self.menu("null", 7..<8), "7",
      Self.menu("\"last\"", 9..<10),
    ]
    let body = bytes("{\"of\": {\"menus\": [\(menus.joined(separator: " , "))]}}")
    var torn: [[UInt8]] = (1..<body.count).map { Array(body[..<$0]) }
    for place in body.indices where "[]{},:\"".utf8.contains(body[place]) {
      torn.append(Array(body[..<place] + body[(place + 1)...]))
      torn.append(Array(body[...place] + body[place...]))
    }
    for body in torn {
      let text = String(decoding: body, as: UTF8.self)
      guard var windows = split(text, file, size: 60) else { continue }
      let whole = try? decodeSource(body, at: 0, using: file)
      let read = try? windows.joined().listing
      // If a window is refused, the whole body is read instead.
      #expect(read == nil || read == whole, "\(text)")
    }
  }

  @Test func `sections with repeated ids in one window are read whole`() throws {
    let same = Array(repeating: #"{"id": "1", "title": "T"}, {"id": "1", "title": "U"}"#, count: 9)
    let body =
      "{\"of\": {\"menus\": [{\"slug\": \"x\", \"goods\": [\(same.joined(separator: ",")), "
      + #"{"id": "2", "title": "V"}]}]}}"#
    let file = try file()
    var windows = try #require(split(body, file, size: 150))

    #expect(throws: CatalogError.self) { try windows.joined() }
    #expect(try decodeSource(bytes(body), at: 0, using: file).sections[0].items.count == 19)
  }

  @Test func `sections with the same key are read whole, and all of them fail`() throws {
    let menus = [
      Self.menu("\"a\"", 0..<9), Self.menu("\"b\"", 9..<20), Self.menu("\"a\"", 20..<30),
    ]
    let body = "{\"of\": {\"menus\": [\(menus.joined(separator: ","))]}}"
    let file = try file()
    var windows = try #require(split(body, file, size: 150))

    #expect(throws: CatalogError.self) { try windows.joined() }
    let listing = try decodeSource(bytes(body), at: 0, using: file)
    #expect(listing.sections.map(\.key) == ["b"])
    #expect(listing.failed.map(\.index) == [0, 2] && listing.failed.map(\.key) == ["a", "a"])
  }

  @Test(arguments: [
    // Sections keyed by name, nested sections, and filtered ones.
    ("$.of.*", "$.goods"), ("$.of[*].menus[*]", "$.goods"), ("$.of.menus[?@.slug]", "$.goods"),
    ("$..menus[*]", "$.goods"),
    // A path that refers to all sections at once needs the whole body.
    ("$.of.menus[*]", "$.goods\npaging: {next: \"$.of.menus[-1].slug\"}"),
    ("$.of.menus[*]", "$.goods\nenvelope: {status: \"$..slug\"}"),
    ("$.of.menus[*]", "\"$.goods[-1:]\""),
    ("$.of.menus[*]", "$.goods\ntransform: ."),
  ])
  func `a body that windows could misread is read whole`(each: String, items: String) throws {
    let file = try file("items: \(items)", each: each)

    #expect(split(Self.body, file, size: 60) == nil)
  }

  @Test func `only a large body of many sections is read in windows`() throws {
    let item = #"{"id": "H", "title": "\#(String(repeating: "t", count: 1 << 20))"}"#
    let goods = Array(repeating: item, count: 12).joined(separator: ",")
    let body = bytes("{\"of\": {\"menus\": [{\"slug\": \"a\", \"goods\": [\(goods)]}]}}")
    let file = try file()

    let decoder = ListingDecoder(file, position: 0)

    #expect(ListingWindows(body, for: decoder) != nil)
    #expect(ListingWindows(bytes(Self.body), for: decoder) == nil)
  }

  @Test func `a field that one section of a response has does not count as absent in the others`()
    throws
  {
    let sections = #"{url: all, each: "$[*]", key: $.key}"#
    let item = "item: {id: $.id, title: $.t, badges: $.b, description: $.d}\nitems: $.items"
    let body = """
      [{"key": "a", "items": [{"id": 1, "t": "A", "b": ["new"]}, {"id": 2, "t": "B"}]},
       {"key": "b", "items": [{"id": 3, "t": "C"}]}, {"key": "c", "items": []}]
      """

    let listing = try decodeSource(bytes(body), at: 0, using: catalog(item, sections: sections))

    #expect(listing.absent == ["a": [.description], "b": [.description], "c": [.description]])
  }
}
