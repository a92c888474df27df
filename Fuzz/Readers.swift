/// A reader: a notation of ``BodyFormat``, with catalog files that read it in different ways.
struct FuzzedReader {
  private let kind: BodyFormat.Kind
  private let files: [CatalogFile]

  /// The reader that `read:` names, or nil if there is none of this name.
  init?(_ name: String) {
    guard let kind = BodyFormat.Kind(rawValue: name), let rules = Self.rules[kind] else {
      return nil
    }
    self.kind = kind
    files = rules.map { rule in
      let item = rule.contains("format:") || rule.contains("item:") ? "" : Self.item
      return catalogFile("name: fuzz\ncurrency: EUR\nsections: [{key: a, url: a}]\n\(item)\(rule)")
    }
  }

  private static let item = """
    item: {id: $.id, title: $.title, salePrice: $.price, badges: $.tags, images: {gallery: $.image}}

    """

  private static let rules: [BodyFormat.Kind: [String]] = [
    .csv: [
      "read: csv", "read: csv\ntable: {names: plain, lists: [tags, image]}",
      "format: google-merchant", "format: list",
    ],
    .tsv: ["read: tsv", "read: tsv\ntable: {names: plain, lists: [tags]}"],
    .xml: [
      "read: xml\nitems: $.a.item", "read: xml\nxml: {record: item}",
      #"xml: {record: [item, x:entry], plain: ["n:"], roots: [a, rss, feed]}"#
        + "\nenvelope: {title: $.around.rss.channel.title}",
      "format: google-merchant", "format: rss", "format: atom", "format: s3-listing",
    ],
    .jsonl: ["read: jsonl\nitems: $", "items: [$.items, $]", "format: list", "format: scrapy"],
    .html: ["format: json-ld"],
    .lines: ["format: list", "read: lines\nitem: {id: $.number, title: $.text}"],
  ]

  /// Checks one input: the listing, the windows of a large response, and the size of the JSON that the reader makes.
  func check(_ input: [UInt8]) {
    for file in files {
      let decoder = ListingDecoder(file, position: 0)
      let whole = Result { () throws(CatalogError) in
        try decodeSource(input, at: 0, using: file)
      }
      switch whole {
      case .success(let listing): checkListing(listing, count: recordCount(of: input, file))
      case .failure(let error): checkError(error, in: input)
      }
      checkWindows(of: input, decoder, whole)
      let notation = decoder.mapping.notation
      let isMade = ![.json, .jsonl].contains(notation.kind(of: input))
      guard isMade, let json = try? notation.json(of: input, "the input") else { continue }
      expect(json.count <= 1 << 20 + 64 * input.count, "\(json.count) bytes of \(input.count)")
      expect((try? JSONDocument(parsing: json)) != nil, "the reader made no JSON")
    }
    if kind == .jsonl { checkJoining(input) }
  }

  /// Checks that each element is either listed or skipped, and that items are stored without a change.
  private func checkListing(_ listing: DecodedListing, count: Int?) {
    let items = listing.sections.flatMap(\.items)
    expect(items.count + listing.lost == listing.elementCount, "elements are lost")
    if let count { expect(listing.elementCount == count, "\(listing.elementCount) of \(count)") }
    for item in items {
      expect(!item.id.isEmpty && !item.title.isEmpty, "an item without id or title")
      expect(item.images.allSatisfy { !$0.url.isEmpty }, "a picture without address")
      expect((try? StoreItem(decoding: item.encoded())) == item, "stored otherwise: \(item)")
    }
  }

  /// Checks that an error has a reason, and that it names a line of the input.
  private func checkError(_ error: CatalogError, in input: [UInt8]) {
    expect(!error.reason.isEmpty && !error.isConfiguration, "\(error)")
    let lines = 1 + input.count { $0 == 0x0A || $0 == 0x0D }
    let named = error.reason.firstMatch(of: /line (\d+)/).flatMap { Int($0.output.1) }
    for line in [error.line, named].compactMap(\.self) {
      expect((1...lines).contains(line), "line \(line) of \(lines): \(error)")
    }
    // In JSON Lines, a bracket or a comma is put before each line, and a bracket behind the last.
    if let column = error.column { expect((1...input.count + 3).contains(column), "\(error)") }
  }

  /// Checks that a response reads the same in windows as whole, wherever it is cut.
  ///
  /// If a window cannot be read, a sync reads the response whole.
  private func checkWindows(
    of input: [UInt8],
    _ decoder: ListingDecoder,
    _ whole: Result<DecodedListing, CatalogError>
  ) {
    for size in [1, 48] {
      guard var windows = ListingWindows(input, for: decoder, size: size) else { continue }
      var joined = DecodedListing()
      do throws(CatalogError) {
        while let part = try windows.next() { joined.append(part) }
      } catch {
        continue
      }
      joined.settleAbsence()
      switch whole {
      case .success(let listing): expect(joined == listing, "windows of \(size) read otherwise")
      case .failure(let error):
        // A window has too few items to show that all ids are equal.
        expect(error.reason.contains("have the same id"), "only windows can be read: \(error)")
      }
    }
  }

  /// Checks that JSON Lines become the same array however they are divided into pieces, and that it lists the same.
  private func checkJoining(_ input: [UInt8]) {
    let array = JSONLines.array(of: input)
    expect(array.count <= 2 * input.count + 2, "\(array.count) bytes of \(input.count)")
    for size in [1, 3, 50] {
      var joining = JSONLines.Joining()
      var pieces: [UInt8] = []
      for start in stride(from: 0, to: input.count, by: size) {
        pieces += joining.joined(input[start..<min(start + size, input.count)])
      }
      expect(pieces + joining.end == array, "another array in pieces of \(size)")
    }
    let whole = try? decodeSource(input, at: 0, using: files[0])
    expect(
      whole == (try? decodeSource(array, at: 0, using: files[0])),
      "the array lists otherwise"
    )
  }

  /// The number of records in an input, counted without the reader; nil if the input is too intricate to tell.
  private func recordCount(of input: [UInt8], _ file: CatalogFile) -> Int? {
    guard file.mapping(ofSource: 0).notation.kind == kind, !WideText.appears(in: input),
      let text = String(validating: JSONText(input).bytes, as: UTF8.self)
    else { return nil }
    let lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }.map { String(Substring($0)).trimmed }
      .filter { !$0.isEmpty }
    switch kind {
    case .csv, .tsv:
      // Line ends in quotes do not end a row, and white space can be a cell. A row of empty cells is neither a record nor
      // the row of names, and a row that repeats the names is no record.
      let hasEmptyRow =
        lines.contains { $0.first.map(",;|".contains) == true }
        || lines.dropFirst().contains { $0 == lines[0] }
      return hasEmptyRow || text.contains("\"") || text.contains("\t") ? nil : lines.count - 1
    case .lines: return lines.count { !$0.hasPrefix("#") }
    case .json, .jsonl, .xml, .html: return nil
    }
  }
}

/// Checks that `catalog init` proposes a file that reads the samples, or names the cause.
///
/// A byte 0x1E ends a listing. A third part is the detail of an item.
func fuzzProposal(_ input: [UInt8]) {
  let parts = input.split(separator: 0x1E, maxSplits: 2, omittingEmptySubsequences: false)
  let pages = parts.prefix(2).enumerated().map { place, body in
    ProposedPage(body: Array(body), source: ProposedSource(url: "https://shop.example/l\(place)"))
  }
  let detail =
    parts.count < 3
    ? nil
    : ProposedPage(
      body: Array(parts[2]),
      source: ProposedSource(url: "https://shop.example/detail/A1")
    )
  do throws(CatalogError) {
    let proposal = try ProposedFile(of: pages, detail: detail, name: "fuzz.yaml") { _, _, _ in
      parts.last.map(Array.init)
    }
    let file = try CatalogFile(parsing: Array(proposal.text.utf8), file: "fuzz.yaml")
    expect(file.token == nil && file.headers.isEmpty, "a proposal with headers")
    var count = 0
    for place in file.sections.indices {
      // Sections are in the order of their mappings.
      guard let page = pages.first(where: { file.sections[place].url.hasPrefix($0.source.url) })
      else { continue }
      let listing = try decodeSource(page.body, at: place, using: file)
      count += listing.sections.reduce(0) { $0 + $1.items.count }
    }
    expect(count > 0, "a file that reads nothing: \(proposal.text)")
  } catch {
    expect(!error.isConfiguration, "\(error)")
    expect(!error.reason.isEmpty && !error.subject.isEmpty, "an error without cause")
  }
}
