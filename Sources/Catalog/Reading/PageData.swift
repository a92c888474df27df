/// The data of an HTML page for search engines and social networks: JSON-LD, microdata and Open Graph.
final class PageData: HTMLReceiver {
  /// The most scripts of a page that are read.
  private static let mostScripts = 10_000

  /// The texts of the scripts that hold JSON-LD, in their order.
  private(set) var scripts: [[UInt8]] = []
  private(set) var microdata = Microdata()
  private(set) var openGraph = OpenGraph()
  /// The URL that the page gives as its own.
  private(set) var canonical: String?

  private var isInJSON = false
  /// Whether characters are those of a script or of a style sheet.
  private var isHidden = false
  /// Of each open element, whether ``microdata`` took it in.
  private var isTaken: [Bool] = []

  /// Reads a page.
  ///
  /// - Parameters:
  ///   - page: The page, as it came.
  ///   - subject: The name of the page, for messages.
  ///   - limits: The run's limits for decoding.
  /// - Returns: Its data.
  /// - Throws: ``CatalogError`` when a limit is passed.
  static func read(
    _ page: [UInt8],
    _ subject: String,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> PageData {
    let data = PageData()
    try HTMLPage.read(JSONText(page).bytes, into: data, subject, within: limits)
    data.microdata.finish()
    guard data.scripts.count <= mostScripts else {
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        expected: "at most \(mostScripts) blocks",
        reason: "the page has more than \(mostScripts) blocks of JSON-LD",
        remedy: "try another page"
      )
    }
    return data
  }

  /// Whether the page has any such data, of products or of other things.
  var hasData: Bool { !scripts.isEmpty || microdata.hasItems || openGraph.json != nil }

  override func start(_ name: String, _ attributes: HTMLAttributes) {
    isInJSON = name == "script" && isJSON(attributes["type"] ?? "")
    if isInJSON { scripts.append([]) }
    isHidden = name == "script" || name == "style"
    if name == "meta" { openGraph.add(attributes) }
    if name == "link", canonical == nil, attributes["rel"]?.lowercased() == "canonical" {
      canonical = attributes["href"]?.trimmed
    }
    isTaken.append(microdata.start(name, attributes))
  }

  private func isJSON(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased() == "application/ld+json"
  }

  override func end(_ name: String) {
    (isInJSON, isHidden) = (false, false)
    if isTaken.popLast() == true { microdata.end() }
  }

  override func text(_ piece: [UInt8]) {
    if isInJSON {
      scripts[scripts.count - 1] += piece
    } else if !isHidden {
      microdata.add(text: piece)
    }
  }
}
