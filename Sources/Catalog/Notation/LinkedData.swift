/// Products of schema.org as shops publish them for search engines: JSON-LD, alone or in an HTML page.
///
/// They become `{"title": …, "items": [{"sku": …, "name": …, "price": …, "image": […]}]}`, see ``LinkedProducts``.
/// (schema.org/Product; JSON-LD 1.1, section 7 "Embedding JSON-LD in HTML Documents")
enum LinkedData {
  /// The most blocks of a page that are read.
  private static let blockLimit = 10_000

  /// A body as JSON that a mapping reads.
  ///
  /// A block of a page that is no JSON is skipped; when it speaks of products, a text in place of an item says so.
  ///
  /// - Throws: ``CatalogError`` when the body is neither, or holds neither products nor an empty list of them.
  static func json(
    of body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [UInt8] {
    let products = try products(in: body, subject, within: limits)
    guard !products.items.isEmpty || !products.unreadable.isEmpty || products.hasEmptyList else {
      throw products.nothingFound(subject)
    }
    return products.json
  }

  /// Whether a body is a page rather than JSON.
  static func isPage(_ body: [UInt8]) -> Bool {
    JSONText(body).bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
  }

  /// Whether a body looks like data of this kind, whether or not it holds products.
  static func isMeant(by body: [UInt8]) -> Bool {
    if isPage(body) { return (try? scripts(in: body, "page"))?.isEmpty == false }
    guard let root = try? JSONDocument(parsing: body).root else { return false }
    let nodes = root.kind == .array ? Array(root.elements.prefix(10)) : [root]
    return nodes.contains { $0["@context"] != nil || $0["@graph"] != nil || $0["@type"] != nil }
  }

  /// The products of a body, none when it has none.
  static func products(
    in body: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> LinkedProducts {
    guard isPage(body) else {
      let root = try JSONDocument(parsing: body, of: subject).root
      return try LinkedProducts(in: [root], of: body.count, place: .json)
    }
    var roots: [JSONNode] = []
    var faults: [LinkedProducts.Unreadable] = []
    let scripts = try scripts(in: body, subject, within: limits)
    for (number, script) in scripts.enumerated() {
      try limits.demandTime(subject)
      let text = unwrapped(script[...])
      guard !text.isEmpty else { continue }
      do throws(CatalogError) {
        roots.append(try JSONDocument(parsing: Array(text), of: "block \(number + 1)").root)
      } catch {
        faults.append(LinkedProducts.Unreadable(error, block: number + 1, of: text))
      }
    }
    let place = LinkedProducts.Place.page(blocks: scripts.count, faults)
    return try LinkedProducts(in: roots, of: body.count, place: place)
  }

  /// The texts of a page's scripts that hold JSON-LD, in their order.
  private static func scripts(
    in page: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [[UInt8]] {
    let gathering = Gathering()
    try HTMLPage.read(JSONText(page).bytes, into: gathering, subject, within: limits)
    guard gathering.scripts.count <= blockLimit else {
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        expected: "at most \(blockLimit) blocks",
        reason: "the page has more than \(blockLimit) blocks of JSON-LD",
        remedy: "name another page"
      )
    }
    return gathering.scripts
  }

  private final class Gathering: HTMLReceiver {
    var scripts: [[UInt8]] = []
    private var isOpen = false

    override func start(_ name: String, type: String?) {
      let essence = (type ?? "").prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
      isOpen = name == "script" && essence == "application/ld+json"
      if isOpen { scripts.append([]) }
    }

    override func end(_ name: String) { isOpen = false }

    override func text(_ piece: [UInt8]) {
      if isOpen { scripts[scripts.count - 1] += piece }
    }
  }

  /// A script without the comments and CDATA marks that are put around it for old browsers and for XHTML.
  private static func unwrapped(_ script: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = script
    var length: Int
    repeat {
      length = text.count
      text = text.drop { $0 <= 0x20 }
      while let last = text.last, last <= 0x20 || last == UInt8(ascii: ";") { text.removeLast() }
      for mark in ["<!--", "//", "/*", "*/", "<![CDATA[", "\u{FEFF}"]
      where text.starts(with: mark.utf8) {
        text.removeFirst(mark.utf8.count)
      }
      for mark in ["-->", "//", "/*", "*/", "]]>"]
      where text.reversed().starts(with: mark.utf8.reversed()) {
        text.removeLast(mark.utf8.count)
      }
    } while text.count < length
    return text
  }
}
