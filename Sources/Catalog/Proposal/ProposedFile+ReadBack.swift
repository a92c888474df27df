extension ProposedFile {
  /// The file as a sync will read it, once that is known to say nothing but what was proposed.
  ///
  /// Names and texts of a response stand in the file, so that one that is quoted wrongly could add a key, such as
  /// `token:` with a command to run.
  ///
  /// - Parameter name: The file's name, for messages.
  /// - Returns: The file.
  /// - Throws: ``CatalogError`` when the file cannot be read, or says anything else.
  func readBack(_ name: String) throws(CatalogError) -> CatalogFile {
    guard lines.allSatisfy(YAMLText.isOneLine) else { throw Self.misread("its lines", name) }
    let bytes = Array(text.utf8)
    let root = try YAMLFile(name: name, subject: "the proposed file").mapping(of: bytes)
    guard root.members.map(\.name) == rootKeys else { throw Self.misread("its keys", name) }
    let file = try CatalogFile(parsing: bytes, file: name)
    if let fault = difference(of: file) { throw Self.misread(fault, name) }
    return file
  }

  /// The keys of the root, in the order in which the file writes them.
  private var rootKeys: [String] {
    let known: Set = [
      "name", "currency", "base", "headers", "sections", "request", "transform", "items",
      "envelope",
      "paging", "item", "format", "detail",
    ]
    return lines.compactMap { line in
      guard line.first.map({ $0 != " " && $0 != "#" }) ?? false else { return nil }
      let key = String(line.prefix { $0 != ":" })
      return known.contains(key) ? key : "no key"
    }
  }

  /// The first thing that a file says otherwise than it was proposed; nil when it says the same.
  private func difference(of file: CatalogFile) -> String? {
    let sources = parts.flatMap(\.sources)
    if file.name != sources[0].name { return "its name" }
    if file.currency != parts[0].reading.currency { return "its currency" }
    if file.base != sources[0].base { return "its base" }
    let sent = file.headers.map { [$0.name, $0.rawValue] }
    if sent != headers.map({ [$0.name, $0.rawValue] }) || file.token != nil {
      return "its headers"
    }
    var position = 0
    for part in parts {
      for source in part.sources {
        let isAlone = part.sources.count == 1
        let urls = [source.url, isAlone ? part.reading.paging?.url : nil].compactMap(\.self)
        guard let found = Self.address(of: position, in: file), urls.contains(found.url),
          found.key == nil || found.key == source.key
        else { return "its sections" }
        if case .mapping(let mapping) = part.reading,
          let fault = mapping.difference(
            of: file.mapping(ofSource: position),
            without: source.absent
          )
        {
          return fault
        }
        position += 1
      }
    }
    return Self.address(of: position, in: file) == nil ? nil : "its sections"
  }

  /// URL and key of a source in a file; a source of many sections has no key of its own.
  private static func address(
    of position: Int,
    in file: CatalogFile
  ) -> (url: String, key: String?)? {
    switch file.sections {
    case .combined(let plan): position == 0 ? (plan.url, nil) : nil
    case .listed(let sources):
      sources.indices.contains(position)
        ? (sources[position].url, sources[position].parts == nil ? sources[position].key : nil)
        : nil
    }
  }

  private static func misread(_ thing: String, _ name: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: "the response",
      file: name,
      reason: "a name or a text in it would change the meaning of the catalog file (\(thing))",
      remedy: "write the catalog file by hand"
    )
  }
}

extension MappingProposal {
  /// The first thing that a mapping reads otherwise than this one proposes; nil when it reads the same.
  ///
  /// - Parameters:
  ///   - read: The mapping as it was read back.
  ///   - absent: The fields that the source has not.
  /// - Returns: The difference, in words for a message.
  fileprivate func difference(of read: Mapping, without absent: [ItemField]) -> String? {
    if read.transform?.program.trimmed != transform?.trimmed { return "its transform" }
    // Behind a transform, fields without a path of their own are those of its output.
    let made = transform == nil ? nil : (try? OwnShape.mapping())?.item
    let texts: [(FieldVocabulary.Field, ItemField?, KeyPath<Mapping.Item, [JSONPath]>)] = [
      (.title, nil, \.title), (.description, .description, \.description),
      (.badges, .badges, \.badges), (.deliveryTypes, .deliveryTypes, \.deliveryTypes),
      (.latitude, .latitude, \.latitude), (.longitude, .longitude, \.longitude),
      (.address, .address, \.address),
    ]
    for (field, key, paths) in texts where !(key.map(absent.contains) ?? false) {
      let place = fields[field]?.first?.evidence.place
      let isMany = field == .badges || field == .deliveryTypes
      let meant = place.map { [isMany ? $0.all : $0.first] }
      let others = made?[keyPath: paths].map(\.description) ?? []
      let found = read.item[keyPath: paths].map(\.description)
      // A section ends the fields of the catalog that its items have not.
      if found != meant ?? others, meant != nil || !found.isEmpty { return "its item" }
    }
    let ids = idPath.map { [$0] } ?? made?.id.map(\.description) ?? []
    if read.item.id.map(\.description) != ids { return "its item" }
    let prices: [(PriceProposal?, KeyPath<Mapping.Item, [Mapping.PriceRule]>)] = [
      (normalPrice, \.normalPrice), (salePrice, \.salePrice),
    ]
    for (price, rules) in prices {
      let meant = price?.scores.map(\.evidence.place.first)
      let others = made?[keyPath: rules].map(\.path.description) ?? []
      let found = read.item[keyPath: rules].map(\.path.description)
      if found != meant ?? others, !found.isEmpty { return "its prices" }
    }
    return nil
  }
}
