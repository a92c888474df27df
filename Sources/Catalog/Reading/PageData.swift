/// The data that an HTML page has for search engines and social networks: JSON-LD, microdata and Open Graph.
struct PageData {
  /// The maximum number of scripts with JSON-LD in one page.
  private static let mostScripts = 10_000

  /// The texts of the scripts with JSON-LD, in the order of the page.
  private(set) var scripts: [[UInt8]] = []
  private(set) var microdata: Microdata
  private(set) var openGraph = OpenGraph()
  /// The page's own URL, from `<link rel="canonical" href="…">`, or nil if the page names none.
  private(set) var canonical: String?

  private var isInJSON = false

  private init(microdata: Microdata) { self.microdata = microdata }

  /// Reads the data of a page.
  ///
  /// - Parameters:
  ///   - page: The bytes of the page.
  ///   - subject: The name of the page in error messages, for example "section main".
  ///   - limits: The limits for decoding, such as a deadline.
  /// - Returns: The data of the page. It can be empty.
  /// - Throws: ``CatalogError`` if the page exceeds a limit, or if decoding was stopped, for example at a deadline.
  static func read(
    _ page: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> PageData {
    var data = PageData(microdata: Microdata(ofPage: page.count))
    try MarkupReader.read(JSONText(page).bytes, as: .html, subject, within: limits) { event, _ in
      data.take(event)
    }
    data.microdata.finish()
    guard data.scripts.count <= mostScripts else {
      throw CatalogError.page(subject, "has more than \(mostScripts) blocks of JSON-LD")
    }
    return data
  }

  /// Whether the page has any such data.
  ///
  /// It can be about other things than products.
  var hasData: Bool { !scripts.isEmpty || microdata.hasItems || openGraph.product != nil }

  private mutating func take(_ event: MarkupEvent) {
    switch event {
    case .start(let name, let attributes):
      isInJSON = name == "script" && isJSON(attributes["type"] ?? "")
      if isInJSON { scripts.append([]) }
      if name == "meta" { openGraph.add(attributes) }
      if name == "link", canonical == nil, attributes["rel"]?.lowercased() == "canonical" {
        canonical = attributes["href"]?.trimmed
      }
      microdata.start(name, attributes)
    case .end:
      isInJSON = false
      microdata.end()
    case .text(let piece, let isShown):
      if isInJSON { scripts[scripts.count - 1] += piece }
      if isShown { microdata.add(text: piece) }
    }
  }

  private func isJSON(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased() == "application/ld+json"
  }
}
