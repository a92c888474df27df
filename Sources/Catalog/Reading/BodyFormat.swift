/// The notation of a shop's responses, such as JSON, CSV or XML.
///
/// The paths of a catalog file are for JSON, so a response in another notation is converted to JSON first. JSON Lines
/// become an array. Tables, lines and XML become `{"items": […]}` with one object for each record, which is a row, a
/// line or an element.
public struct BodyFormat: Hashable, Sendable {
  /// The notations.
  ///
  /// Their raw values are the words after `read:` in a catalog file.
  public enum Kind: String, CaseIterable, Sendable {
    /// Plain JSON. (RFC 8259)
    case json
    /// One JSON value on each line. (jsonlines.org)
    case jsonl
    /// A table whose values are separated by commas, semicolons or bars. (RFC 4180)
    case csv
    /// A table whose values are separated by tabs.
    case tsv
    /// XML 1.0.
    case xml
    /// The products of an HTML page (schema.org, Open Graph) or of a JSON-LD document.
    case html
    /// One text on each line.
    case lines
  }

  /// The notation of all responses.
  ///
  /// If it is nil, the notation of each response is detected from its content.
  var kind: Kind?
  /// The rule that makes records of XML.
  ///
  /// If it is nil, the document becomes one tree.
  var xml: XMLRecords.Rule?
  /// The rule that makes records of a table.
  ///
  /// If it is nil, the column names and values are used unchanged.
  var table: TableRecords.Rule?

  /// JSON, which needs no conversion.
  public static let json = BodyFormat()

  /// Whether all responses are JSON or JSON Lines.
  var isJSON: Bool {
    kind == .json || kind == .jsonl || (kind == nil && xml == nil && table == nil)
  }

  /// Whether a response becomes `{"items": […]}`.
  ///
  /// If so, a catalog file does not have to say where the items are.
  var makesItems: Bool { !isJSON && (kind != .xml || xml?.records.isEmpty == false) }

  /// Whether a text among the records is the reason why one of them cannot be read.
  ///
  /// The kind must be known. In a list of JSON, such a text is an element of the shop.
  var hasReasons: Bool { kind == .html || kind == .csv || kind == .tsv }

  /// A text that is the same for equal formats and differs for others, or nil if the format is plain JSON.
  ///
  /// It names the properties and their values. If a property gets another name, cached responses are decoded again.
  var fingerprint: String? { self == .json ? nil : "\(self)" }

  /// Converts a response to JSON.
  ///
  /// - Parameters:
  ///   - body: The body of the response.
  ///   - subject: The name of the response in error messages, for example "section main".
  ///   - columns: Names of columns. A table is accepted if it has at least one of them. If there are no names, any
  ///     table is accepted.
  ///   - needsAllRows: Whether a row of a table that cannot be read is an error, and not a text among the records.
  ///   - linesBefore: The number of lines before the body, if it is a part of a larger body.
  ///   - limits: The limits for decoding, such as a deadline.
  /// - Returns: JSON in UTF-8.
  /// - Throws: ``CatalogError`` if the body is not in this notation.
  func json(
    of body: [UInt8],
    _ subject: String,
    columns: [String] = [],
    needsAllRows: Bool = false,
    linesBefore: Int = 0,
    within limits: DecodingLimits = DecodingLimits()
  ) throws(CatalogError) -> [UInt8] {
    try ForeignData.check(body, subject)
    func table(_ separator: UInt8?) throws(CatalogError) -> [UInt8] {
      try TableRecords(
        rule: self.table ?? .init(),
        separator: separator,
        columns: columns,
        subject: subject,
        linesBefore: linesBefore,
        needsAllRows: needsAllRows
      ).json(of: body, within: limits)
    }
    switch kind(of: body) {
    case .json: return body
    case .jsonl: return JSONLines.array(of: body)
    case .csv: return try table(nil)
    case .tsv: return try table(UInt8(ascii: "\t"))
    case .xml: return try XMLRecords.json(of: body, by: xml ?? .init(), subject, within: limits)
    case .html: return try LinkedData.json(of: body, subject, within: limits)
    case .lines:
      return try TextLines.json(of: body, subject, linesBefore: linesBefore, within: limits)
    }
  }

  /// The notation of a body: ``kind``, or else the one that its first bytes show.
  ///
  /// If the URL or the media type said that a body is JSON Lines, it has been converted to an array, which is JSON.
  func kind(of body: [UInt8]) -> Kind {
    let kind = kind ?? content(of: body)
    return kind == .jsonl && JSONLines.isDocument(body) ? .json : kind
  }

  /// The notation of a body according to its first bytes.
  ///
  /// If the catalog file has neither a rule for XML nor one for tables, the notation is JSON or JSON Lines. If it has
  /// only a rule for XML, the notation is XML.
  private func content(of body: [UInt8]) -> Kind {
    if isJSON { return JSONLines.seem(body) ? .jsonl : .json }
    if xml != nil, table == nil || Self.isMarkup(body) { return .xml }
    let first = JSONText(body).first
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      return JSONLines.seem(body) ? .jsonl : .json
    }
    return TextLines.haveURLs(body) && !TableRecords.isTable(body) ? .lines : .csv
  }

  /// Whether a body begins with `<`, or is in UTF-32.
  static func isMarkup(_ body: [UInt8]) -> Bool {
    guard WideText.appears(in: body) else { return JSONText(body).first == UInt8(ascii: "<") }
    return WideText.utf8(of: Array(body.prefix(1024))).map(isMarkup) ?? true
  }

  /// Whether a markup text in lower case begins with an element of HTML, as a part of a page does, or with comments
  /// and such an element.
  ///
  /// XML can have elements with such names as `table` too, but hardly with elements of HTML in them.
  static func isPartOfPage(_ text: String) -> Bool {
    var text = text.trimmed[...]
    while text.hasPrefix("<!--"), let end = text.firstRange(of: "-->") {
      text = text[end.upperBound...].drop(while: \.isWhitespace)
    }
    return text.prefixMatch(
      of:
        /<(?:(?:head|body|div|span|ul|ol|nav|main|form)[\s>\/]|(?:table|section|article|a|p|h[1-6])[\s>][\s\S]*?<(?:tr|tbody|thead|div|span|ul|a|p|img|br|h[1-6])[\s>\/])/
    ) != nil
  }
}

/// Text in UTF-16, with a byte order mark or with markup.
enum WideText {
  /// Whether a text is UTF-16 or UTF-32, according to its first bytes.
  static func appears(in beginning: [UInt8]) -> Bool {
    [[0xFF, 0xFE], [0xFE, 0xFF], [0x3C, 0x00]].contains { beginning.starts(with: $0) }
  }

  /// The text in UTF-8, or nil if it is UTF-32, which begins with the same two bytes, or cut within a character. (XML 1.0,
  /// appendix F)
  ///
  /// Half of a pair of surrogates becomes U+FFFD. A last byte that is a line end is left out.
  static func utf8(of body: [UInt8]) -> [UInt8]? {
    let isWhole = body.count.isMultiple(of: 2) || body.last.map { $0 <= 0x20 } == true
    guard !body.starts(with: [0x3C, 0, 0]), !body.starts(with: [0xFF, 0xFE, 0, 0]), isWhole else {
      return nil
    }
    let isBig = body.starts(with: [0xFE, 0xFF])
    let units = stride(from: 0, to: body.count - 1, by: 2).map { place in
      let (low, high) = isBig ? (body[place + 1], body[place]) : (body[place], body[place + 1])
      return UInt16(high) << 8 | UInt16(low)
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }
}

/// Kinds of data that larder does not read, such as Parquet files and ZIP archives.
enum ForeignData {
  /// The first bytes of each kind of data.
  ///
  /// Each character stands for the byte with its value, from U+0000 to U+00FF.
  private static let kinds: [(beginning: String, name: String, remedy: String)] = [
    ("PAR1", "Parquet", "export it as JSON Lines or CSV"),
    ("ARROW1", "an Arrow file", "export it as JSON Lines or CSV"),
    ("Obj\u{1}", "Avro", "export it as JSON Lines or CSV"),
    ("ORC", "ORC", "export it as JSON Lines or CSV"),
    ("SQLite format 3\u{0}", "an SQLite database", "export a table as CSV"),
    ("\u{89}HDF", "HDF5", "export it as JSON Lines or CSV"),
    ("PK\u{3}\u{4}", "a ZIP archive or a workbook", "unpack it, or save it as CSV"),
    ("\u{D0}\u{CF}\u{11}\u{E0}", "an Excel workbook", "save it as CSV"),
    ("{\\rtf", "an RTF document", "save it as CSV"),
    ("%PDF-", "a PDF", "use the URL of the data, not of a document"),
    ("#EXTM3U", "a playlist of streams (M3U)", "use the URL of a list of items"),
    ("(\u{B5}/\u{FD}", "packed with Zstandard", "unpack it, or pack it with gzip"),
    ("BZh", "packed with bzip2", "unpack it, or pack it with gzip"),
    ("\u{FD}7zXZ", "packed with xz", "unpack it, or pack it with gzip"),
  ]

  /// Throws an error if a body is of a kind that larder does not read.
  static func check(_ body: [UInt8], _ subject: String) throws(CatalogError) {
    let kind = kinds.first { kind in
      body.starts(with: kind.beginning.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
    guard let kind else { return }
    let reason = "this is \(kind.name), which larder does not read"
    throw .shape(subject, reason, remedy: kind.remedy)
  }
}

/// Converts lines of text to JSON, with one object for each line that is not empty.
///
/// For example, the line `https://shop.example/a.jpg A cup` becomes
/// `{"number": 1, "text": "https://shop.example/a.jpg A cup", "url": "https://shop.example/a.jpg", "rest": "A cup"}`.
/// `number` is the number of the line. `url` is the first word that begins with `http://` or `https://`, and `rest` are
/// the other words. A line that begins with `#` is a comment and is skipped.
enum TextLines {
  static func json(
    of body: [UInt8],
    _ subject: String,
    linesBefore: Int,
    within limits: DecodingLimits
  ) throws(CatalogError) -> [UInt8] {
    // A later part of a body can begin with a byte order mark that says nothing about the body.
    let text = linesBefore == 0 ? TableRecords.text(of: body) : JSONText(body)
    try text.demandUTF8(of: subject)
    let bytes = text.bytes
    var writer = StoredFormWriter()
    writer.open("{")
    writer.name("items")
    writer.open("[")
    var place = bytes.startIndex
    var number = linesBefore
    while place < bytes.endIndex {
      let end = bytes[place...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.endIndex
      number += 1
      if number % 1024 == 0 { try limits.demandTime(subject) }
      let text = String(decoding: bytes[place..<end], as: UTF8.self).trimmed
      if !text.isEmpty, !text.hasPrefix("#") {
        writer.object {
          $0.member("number", number)
          $0.member("text", text)
          let words = text.split { $0.isWhitespace }
          guard let place = words.firstIndex(where: isURL) else { return }
          $0.member("url", String(words[place]))
          let rest = (words[..<place] + words[(place + 1)...]).joined(separator: " ")
          if !rest.isEmpty { $0.member("rest", rest) }
        }
      }
      let isPair = end + 1 < bytes.endIndex && bytes[end] == 0x0D && bytes[end + 1] == 0x0A
      place = end + (isPair ? 2 : 1)
    }
    writer.close("]")
    writer.close("}")
    return writer.bytes
  }

  private static func isURL(_ word: Substring) -> Bool {
    word.hasPrefix("http://") || word.hasPrefix("https://")
  }

  /// Whether the first line of a body that is neither empty nor a comment contains a URL.
  static func haveURLs(_ body: [UInt8]) -> Bool {
    let text = String(decoding: TableRecords.text(of: body).bytes.prefix(1 << 14), as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).lazy.map { String($0).trimmed }
      .first { !$0.isEmpty && !$0.hasPrefix("#") }
    return line?.split { $0.isWhitespace }.contains(where: isURL) ?? false
  }
}
