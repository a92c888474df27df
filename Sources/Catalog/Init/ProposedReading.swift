/// The proposed way to read a response.
enum ProposedReading {
  /// By paths that were deduced from the response.
  case mapping(MappingProposal)
  /// By a built-in format, such as `shopify`.
  case format(FormatProposal)

  /// Whether the same keys of the catalog file can read the responses of both.
  func isLike(_ other: ProposedReading) -> Bool {
    switch (self, other) {
    case (.mapping(let one), .mapping(let other)):
      one.place.shape == other.place.shape && one.look.program == other.look.program
        && one.look.notation == other.look.notation
    case (.format(let one), .format(let other)): one.format == other.format
    default: false
    }
  }

  /// The comments at the beginning of the catalog file.
  fileprivate var preface: [String] {
    switch self {
    case .mapping(let mapping): mapping.preface
    case .format(let format): format.preface
    }
  }

  /// The ISO 4217 code of the catalog's currency.
  var currency: String {
    switch self {
    case .mapping(let mapping): mapping.currency.code
    case .format(let format): format.currency.code
    }
  }

  fileprivate var currencyLine: String {
    switch self {
    case .mapping(let mapping): mapping.currencyLine
    case .format(let format):
      "currency: \(format.currency.code)   \(YAMLText.comment(format.currency.reason))"
    }
  }

  /// See ``MappingProposal/partLines``.
  fileprivate var partLines: [String] {
    if case .mapping(let mapping) = self { mapping.partLines } else { [] }
  }

  /// The paging of the catalog file, or nil if the file has none or has it only in a comment.
  var paging: PagingProposal? {
    guard case .mapping(let mapping) = self, let paging = mapping.paging, paging.confidence >= 0.5
    else { return nil }
    return paging
  }

  /// Whether the sections are made by a transform, which is a jq program in the catalog file.
  var makesSections: Bool {
    if case .mapping(let mapping) = self { mapping.makesSections } else { false }
  }

  fileprivate func lines(isLocal: Bool) -> [String] {
    switch self {
    case .mapping(let mapping): mapping.readingLines(isLocal: isLocal)
    case .format(let format): format.lines
    }
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
    let variables = sources.flatMap(\.variables) + headers.flatMap(\.variableNames)
    if !variables.isEmpty {
      lines.append(
        "# Set in the environment before a run: "
          + variables.unique(by: \.self).joined(separator: ", ")
      )
    }
    lines.append("name: \(YAMLText.scalar(sources[0].name))")
    lines.append(first.currencyLine)
    if let base = sources[0].base {
      let note =
        sources[0].isUnknown
        ? "   # stdin has no address: write the shop's here, and the listing's below" : ""
      lines.append("base: \(YAMLText.quoted(base))\(note)")
    }
    if !headers.isEmpty {
      lines.append("headers:")
      lines += headers.map { "  \(YAMLText.scalar($0.name)): \(YAMLText.quoted($0.rawValue))" }
    }
    lines += sectionLines
    if let body = first.paging?.body ?? sources[0].body {
      lines += ["request:", "  body: |"] + YAMLText.block(body, indent: "    ")
    }
    lines += first.lines(isLocal: sources[0].base == nil)
    lines += detail?.lines ?? []
    return lines
  }

  private var sectionLines: [String] {
    let first = parts[0].reading
    if pages.count == 1 {
      let url = YAMLText.quoted(first.paging?.url ?? pages[0].source.url)
      if first.makesSections { return ["sections: {url: \(url)}"] }
      let own = first.partLines
      if !own.isEmpty { return ["sections:", "  url: \(url)"] + own.map { "  \($0)" } }
    }
    var lines = ["sections:"]
    for (place, part) in parts.enumerated() {
      for source in part.pages.map({ pages[$0].source }) {
        let paged = part.pages.count == 1 ? part.reading.paging?.url : nil
        let url = YAMLText.quoted(paged ?? source.url)
        let key = YAMLText.scalar(source.key)
        let own = part.reading.partLines
        let reading = place == 0 ? [] : part.reading.lines(isLocal: source.base == nil)
        if own.isEmpty, reading.isEmpty {
          lines.append("  - {key: \(key), url: \(url)\(Self.without(source.absent))}")
          continue
        }
        lines += own.isEmpty ? ["  - key: \(key)", "    url: \(url)"] : ["  - url: \(url)"]
        lines += (own + Self.withoutCatalogs(reading, first)).map { "    \($0)" }
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

  /// The lines in a section that say how its response is read.
  ///
  /// A section inherits keys such as `paging` from the top level of the file. Inherited keys that `reading` does not
  /// have are set to `null`.
  private static func withoutCatalogs(_ reading: [String], _ first: ProposedReading) -> [String] {
    guard !reading.isEmpty else { return [] }
    func has(_ key: String, _ lines: [String]) -> Bool {
      lines.contains { $0.hasPrefix("\(key):") }
    }
    let catalogs = first.lines(isLocal: false)
    let ended = ["transform", "paging", "envelope"].filter {
      has($0, catalogs) && !has($0, reading)
    }
    return withoutFields(of: catalogs, reading)
      + ended.map { $0 == "envelope" ? "envelope: {title: null}" : "\($0): null" }
  }

  /// Adds `null` for each key below `item:` that the top level of the file has but the section does not have.
  ///
  /// - Parameters:
  ///   - catalogs: The lines at the top level of the file.
  ///   - reading: The lines of the section.
  /// - Returns: The lines of the section with the additional lines.
  private static func withoutFields(of catalogs: [String], _ reading: [String]) -> [String] {
    func keys(_ lines: [String], indent: String) -> [String] {
      lines.drop { $0 != "item:" }.filter { $0.hasPrefix(indent) }.map {
        $0.dropFirst(indent.count)
      }
      .filter { $0.first.map { $0.isLetter } ?? false }.map { String($0.prefix { $0 != ":" }) }
    }
    guard let place = reading.firstIndex(of: "item:") else { return reading }
    let own = keys(reading, indent: "  ")
    let roles = keys(reading, indent: "    ")
    let absent = keys(catalogs, indent: "  ").filter { !own.contains($0) }
    let absentRoles =
      own.contains("images") ? keys(catalogs, indent: "    ").filter { !roles.contains($0) } : []
    var lines = reading
    if let images = lines.firstIndex(of: "  images:") {
      lines.insert(contentsOf: absentRoles.map { "    \($0): null" }, at: images + 1)
    }
    lines.insert(contentsOf: absent.map { "  \($0): null" }, at: place + 1)
    return lines
  }
}
