/// The proposed way to read a response: ``MappingProposal`` or ``FormatProposal``.
protocol ProposedReading {
  /// The comments at the beginning of the catalog file.
  var preface: [String] { get }
  /// The catalog's currency.
  var currency: CurrencyProposal { get }
  /// The keys of the catalog file whose values are in doubt, such as `salePrice`.
  var unsure: [String] { get }

  /// The lines that say how the response is read: the path to the items, the paging, and the fields of an item.
  ///
  /// - Parameter isLocal: Whether the response is a local file, which has only one page.
  /// - Returns: The lines without indentation.
  func readingLines(isLocal: Bool) -> [String]
}

extension ProposedReading {
  /// The ISO 4217 code of the catalog's currency.
  var currencyCode: String { currency.code }

  /// The line `currency:` of the catalog file.
  var currencyLine: String {
    noted("currency: \(currency.code)", currency.confidence, currency.reason)
  }

  /// A line with a comment that gives the confidence and its reason.
  func noted(_ line: String, _ confidence: Double, _ reason: String) -> String {
    let tenths = Int((confidence * 10).rounded())
    let number = tenths >= 10 ? "1.0" : "0.\(max(0, tenths))"
    return "\(line)   \(YAMLText.comment("\(number): \(reason)"))"
  }

  /// The mapping, or nil if a built-in format reads the response.
  var mapping: MappingProposal? { self as? MappingProposal }

  /// The paging of the catalog file, or nil if the file has none or has it only in a comment.
  var paging: PagingProposal? {
    mapping?.paging.flatMap { $0.confidence >= 0.5 ? $0 : nil }
  }
}

extension ProposedFile {
  /// The lines of the file.
  ///
  /// A part is a group of responses that are read in the same way. The top level of the file says how the responses of
  /// the first part are read. In the other parts, each section says how its own response is read.
  var lines: [String] {
    let sources = sources
    let first = parts[0].reading
    var lines = ["# yaml-language-server: $schema=larder.schema.json"] + first.preface
    let variables = (sources.flatMap(\.variables) + headers.flatMap(\.variableNames))
      .unique(by: \.self)
    if !variables.isEmpty {
      lines.append("# Set in the environment before a run: \(variables.joined(separator: ", "))")
    }
    lines += ["name: \(YAMLText.scalar(sources[0].name))", first.currencyLine]
    if let base = sources[0].base {
      let note =
        sources[0].isUnknown
        ? "   # stdin has no address: write the shop's here, and the listing's below" : ""
      lines.append("base: \(YAMLText.quoted(base))\(note)")
    } else if lacksBase {
      lines.append(
        "# base: https://…/   # the pictures are relative: write the address of their folder"
      )
    }
    if !headers.isEmpty {
      lines.append("headers:")
      lines += headers.map { "  \(YAMLText.scalar($0.name)): \(YAMLText.quoted($0.rawValue))" }
    }
    lines += sectionLines
    if let body = first.paging?.body ?? sources[0].body {
      lines += ["request:", "  body: |"] + YAMLText.block(body, indent: "    ")
    }
    return lines + first.readingLines(isLocal: sources[0].base == nil) + (detail?.lines ?? [])
  }

  private var sectionLines: [String] {
    let first = parts[0].reading
    let catalogs = first.readingLines(isLocal: false)
    var lines = ["sections:"]
    for (place, part) in parts.enumerated() {
      for page in part.pages {
        let source = pages[page].source
        let url = YAMLText.quoted(url(of: page, in: part))
        let key = YAMLText.scalar(source.key)
        let own = part.reading.mapping?.partLines ?? []
        if pages.count == 1, first.mapping?.makesSections == true {
          return ["sections: {url: \(url)}"]
        }
        if pages.count == 1, !own.isEmpty {
          return lines + (["url: \(url)"] + own).map { "  \($0)" }
        }
        if own.isEmpty, place == 0 {
          lines.append("  - {key: \(key), url: \(url)\(Self.without(source.absent))}")
          continue
        }
        let reading = place == 0 ? [] : part.reading.readingLines(isLocal: source.base == nil)
        lines += own.isEmpty ? ["  - key: \(key)", "    url: \(url)"] : ["  - url: \(url)"]
        lines += (own + Self.complete(reading, below: catalogs)).map { "    \($0)" }
      }
    }
    return lines
  }

  /// The end of a section's line, for example `, item: {badges: null}`.
  ///
  /// It sets the given fields to `null`, because the section's items do not have them.
  private static func without(_ fields: [ItemField]) -> String {
    guard !fields.isEmpty else { return "" }
    let plain = fields.filter { $0.role == nil }.map { "\($0.rawValue): null" }
    let roles = fields.compactMap { $0.role.map { "\($0.rawValue): null" } }
    let images = roles.isEmpty ? [] : ["images: {\(roles.joined(separator: ", "))}"]
    return ", item: {\((plain + images).joined(separator: ", "))}"
  }

  /// The lines in a section that say how its response is read, with `null` for what it does not have.
  ///
  /// A section inherits keys such as `paging`, and the keys below `item:`, from the top level of the file.
  private static func complete(_ reading: [String], below catalogs: [String]) -> [String] {
    guard !reading.isEmpty else { return [] }
    /// The keys at the top level that only the catalog has, or with an indentation those below `item:`.
    func absent(_ indent: String) -> [String] {
      let (inherited, own) = (keys(catalogs), keys(reading))
      func keys(_ lines: [String]) -> [String] {
        let those = lines.drop { !indent.isEmpty && $0 != "item:" }.filter { $0.hasPrefix(indent) }
        let members: [Substring] = those.map { $0.dropFirst(indent.count) }
        return members.filter { $0.first?.isLetter == true }
          .map { member in String(member.prefix { $0 != ":" }) }
      }
      return inherited.filter { !own.contains($0) }
    }
    var lines = reading
    if let item = lines.firstIndex(of: "item:") {
      if let images = lines.firstIndex(of: "  images:") {
        lines.insert(contentsOf: absent("    ").map { "    \($0): null" }, at: images + 1)
      }
      lines.insert(contentsOf: absent("  ").map { "  \($0): null" }, at: item + 1)
    }
    let ended = absent("")
    return lines
      + ["transform", "paging", "envelope"].filter(ended.contains).map {
        $0 == "envelope" ? "envelope: {title: null}" : "\($0): null"
      }
  }
}
