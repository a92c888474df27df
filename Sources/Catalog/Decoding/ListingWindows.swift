/// A part of a large response that can be decoded by itself, because it is a complete smaller body.
package struct ListingWindow: Sendable {
  /// The smaller body.
  ///
  /// It ends with spaces that the JSON parser needs. Without them, the parser would copy the body.
  ///
  /// If the response cannot be read from its file, there are no bytes. Decoding then fails, because an empty body is
  /// not valid.
  package let bytes: [UInt8]
  /// The number of the response's sections that come before this window.
  ///
  /// It is 0 if the response is one section.
  let sectionsBefore: Int
  /// Whether the window contains whole sections or a part of one section.
  let extent: Extent
  /// The number of bytes in all later windows.
  package let bytesAfter: Int
  /// The notation of the window, such as JSON or CSV.
  let kind: BodyFormat.Kind
  /// The number of lines of the response that come before this window.
  ///
  /// It is 0 if the number of a line does not matter in the response's notation.
  let linesBefore: Int

  /// The content of a window, if the response has many sections.
  enum Extent {
    /// One or more whole sections.
    case whole
    /// The first items of one section.
    case beginning
    /// Further items of the section that the previous window ended with.
    case continuation
  }

  /// Whether the window only has further items of the section that the previous window ended with.
  package var isContinuation: Bool { extent == .continuation }
}

/// Cuts a large response into windows, which are complete smaller bodies.
///
/// A window has some of the items, and repeats everything around the items. For example, the response `{"total": 2,
/// "items": [1, 2]}` can be cut into `{"total": 2, "items": [1]}` and `{"total": 2, "items": [2]}`.
///
/// Windows save memory, because a parsed response takes several times as much memory as its bytes. The items of one
/// window are freed before the next window is read.
///
/// Each byte of the response is in at least one window. If the response is not valid JSON, at least one window is not
/// valid either. If the windows are decoded and the results are joined in order, they equal the result of the whole
/// response.
package struct ListingWindows: Sequence, IteratorProtocol {
  /// The ranges of the response that make up a window.
  private struct Plan {
    var ranges: [Range<Int>]
    var sectionsBefore = 0
    var extent = ListingWindow.Extent.whole
    var linesBefore = 0
  }

  private let body: any RandomAccessBody
  private let kind: BodyFormat.Kind
  private var plans: ArraySlice<Plan>
  /// The bytes of the previous window.
  ///
  /// If nothing else refers to them, the next window reuses their memory.
  private var bytes: [UInt8] = []

  /// The minimum number of bytes of items in a window.
  ///
  /// Responses of up to twice this size are not cut.
  private static let size = 2 << 20
  /// The maximum number of bytes around the items of a JSON body.
  ///
  /// Every window repeats these bytes.
  private static let mostAround = 64 << 10
  /// The maximum number of bytes around the records of another notation.
  ///
  /// It is larger, because an XML document can have, for example, all its categories before the records.
  private static let mostAroundRecords = 512 << 10
  /// The spaces that simdjson needs at the end of a text, so that it can read more bytes at once.
  private static let padding = [UInt8](repeating: 0x20, count: 64)

  /// Plans the windows of a response.
  ///
  /// The result is nil if the response must be decoded whole. This is so if it is small, or if a path of the mapping
  /// can look at all items at once. The items must be in one array, or in one array for each section.
  ///
  /// - Parameters:
  ///   - body: The response, in any notation.
  ///   - decoder: The decoder that will decode the windows.
  ///   - parts: The paths to the sections, or nil if the response is one section.
  ///   - size: The minimum number of bytes of items in a window.
  package init?(
    _ body: some RandomAccessBody,
    for decoder: ListingDecoder,
    parts: CombinedSections? = nil,
    size: Int = Self.size
  ) {
    guard body.count > 2 * size, decoder.mapping.transform == nil,
      let beginning = body.beginning(most: 1 << 20)
    else { return nil }
    self.body = body
    var notation = decoder.mapping.notation
    let named = notation.kind ?? notation.content(of: beginning)
    // If the URL or the media type said that the response is JSON Lines, it has already been converted to an array.
    let isArray = JSONText(beginning).first == UInt8(ascii: "[")
    kind = named == .jsonl && isArray ? .json : named
    notation.kind = kind
    let start = beginning.count - JSONText(beginning).bytes.count
    let plans: [Plan]?
    if kind != .json {
      plans = parts == nil ? Self.plans(of: body, from: start, decoder, notation, size) : nil
    } else if let parts {
      plans = Self.plans(of: body, from: start, decoder, parts, size)
    } else {
      plans = Self.plans(of: body, from: start, decoder, size)
    }
    guard let plans, plans.count > 1 else { return nil }
    self.plans = plans[...]
  }

  /// The next window, or nil after the last one.
  package mutating func next() -> ListingWindow? {
    guard let plan = plans.popFirst() else { return nil }
    let size = plan.ranges.reduce(0) { $0 + $1.count }
    let after = plans.reduce(0) { sum, plan in
      sum + plan.ranges.reduce(0) { $0 + $1.count }
    }
    if bytes.count < size {
      bytes += repeatElement(0, count: size - bytes.count)
    } else {
      bytes.removeLast(bytes.count - size)
    }
    let isRead = bytes.withUnsafeMutableBytes { [body] buffer in
      var filled = 0
      return plan.ranges.allSatisfy { range in
        defer { filled += range.count }
        let room = buffer[filled..<filled + range.count]
        return body.copy(range, to: UnsafeMutableRawBufferPointer(rebasing: room))
      }
    }
    if isRead { bytes += Self.padding } else { bytes = [] }
    return ListingWindow(
      bytes: bytes,
      sectionsBefore: plan.sectionsBefore,
      extent: plan.extent,
      bytesAfter: after,
      kind: kind,
      linesBefore: plan.linesBefore
    )
  }

  /// Plans the windows of a table, a text of lines, a JSON Lines text or an XML document.
  ///
  /// The decoder reads the records of JSON Lines as the elements of the outermost array, and other records as the
  /// elements of an array named `items`.
  private static func plans(
    of body: some RandomAccessBody,
    from start: Int,
    _ decoder: ListingDecoder,
    _ notation: BodyFormat,
    _ size: Int
  ) -> [Plan]? {
    let isLines = notation.kind == .jsonl
    let names = isLines ? [] : ["items"]
    let ways = decoder.mapping.items.map(\.namesOfArray)
    // The paths before this one must be for other notations, so that they lead to nothing here.
    guard let way = ways.firstIndex(where: { $0?.names == names }),
      ways[..<way].allSatisfy({ $0.map { $0.names.first != "around" } ?? false }),
      !(isLines && ways[way]?.isChoice == true),
      decoder.pathsAroundItems.allSatisfy({ $0.staysOutside(names) }),
      let cuts = RecordCuts(body, from: start, notation, size: size)
    else { return nil }
    let (head, tail) = (start..<cuts.records.lowerBound, cuts.records.upperBound..<body.count)
    guard head.count + tail.count <= mostAroundRecords else { return nil }
    return cuts.parts.map { Plan(ranges: [head, $0.range, tail], linesBefore: $0.linesBefore) }
  }

  /// Plans the windows of a JSON body that is one section.
  private static func plans(
    of body: some RandomAccessBody,
    from start: Int,
    _ decoder: ListingDecoder,
    _ size: Int
  ) -> [Plan]? {
    for path in decoder.mapping.items {
      guard let (names, isChoice) = path.namesOfArray else { return nil }
      var scan = ArrayScan()
      switch scan.find(names, in: body, from: start, window: size) {
      case .unsure: return nil
      case .none: continue
      case .array:
        let around = body.count - (scan.end - scan.start)
        // If elements of the array are arrays themselves, a path such as `$.items[*]` leads to lists of items.
        guard around <= mostAround, !(isChoice && scan.holdsArrays),
          decoder.pathsAroundItems.allSatisfy({ $0.staysOutside(names) })
        else { return nil }
        return scan.parts.map { part in
          Plan(ranges: [start..<scan.start, part, scan.end..<body.count])
        }
      }
    }
    return nil
  }

  /// Plans the windows of a JSON body that has many sections.
  ///
  /// A window has one or more small sections, or a part of a large section.
  private static func plans(
    of body: some RandomAccessBody,
    from start: Int,
    _ decoder: ListingDecoder,
    _ sections: CombinedSections,
    _ size: Int
  ) -> [Plan]? {
    let ways = decoder.mapping.items.map(\.namesOfArray)
    let fromSection = [sections.key, sections.title, sections.subtitle].compactMap(\.self)
    guard let names = sections.each.namesOfArray?.names, sections.each.endsInMembers,
      !ways.contains(where: { $0 == nil }),
      ways.allSatisfy({ way in fromSection.allSatisfy { $0.staysOutside(way?.names ?? []) } }),
      ([decoder.nextPage].compactMap(\.self) + decoder.mapping.envelope.status)
        .allSatisfy({ $0.staysOutside(names) })
    else { return nil }
    var plans: [Plan] = []
    var group: (range: Range<Int>, before: Int)?
    var count = 0
    var isSure = true
    func endGroup() {
      guard let ended = group else { return }
      plans.append(Plan(ranges: [ended.range], sectionsBefore: ended.before))
      group = nil
    }
    var scan = ArrayScan()
    let inner = ways.compactMap { $0?.names }
    let isChoice = ways.contains { $0?.isChoice == true }
    let finding = scan.findSections(names, inner: inner, in: body, from: start, window: size) {
      section,
      items in
      defer { count += 1 }
      guard let items, !items.cuts.isEmpty else {
        group = (
          (group?.range.lowerBound ?? section.lowerBound)..<section.upperBound,
          group?.before ?? count
        )
        if section.upperBound - (group?.range.lowerBound ?? 0) >= size { endGroup() }
        return
      }
      endGroup()
      let around = section.count - (items.end - items.start)
      isSure = isSure && around <= mostAround && !(isChoice && items.holdsArrays)
      for (place, part) in items.parts.enumerated() {
        plans.append(
          Plan(
            ranges: [
              section.lowerBound..<items.start, part, items.end..<section.upperBound,
            ],
            sectionsBefore: count,
            extent: place == 0 ? .beginning : .continuation
          )
        )
      }
    }
    endGroup()
    let around = body.count - (scan.end - scan.start)
    guard finding == .array, isSure, around <= mostAround else { return nil }
    return plans.map { plan in
      var plan = plan
      plan.ranges = [start..<scan.start] + plan.ranges + [scan.end..<body.count]
      return plan
    }
  }
}

extension ArrayScan {
  /// The ranges of the body between the cuts, which have whole elements and the commas between them.
  fileprivate var parts: [Range<Int>] {
    zip([start] + cuts.map { $0 + 1 }, cuts + [end]).map { $0..<$1 }
  }
}

extension ListingDecoder {
  /// The paths to the values that the decoder reads outside the items.
  fileprivate var pathsAroundItems: [JSONPath] {
    let envelope = mapping.envelope
    return envelope.title + envelope.subtitle + envelope.status + [nextPage].compactMap(\.self)
  }
}

extension JSONPath {
  /// The names of the members that lead to an array, for example `data` and `items` for `$.data.items[*]`.
  ///
  /// `isChoice` says whether the path ends with a wildcard or a filter that tests each element by itself. The result is
  /// nil if the path has any other step.
  var namesOfArray: (names: [String], isChoice: Bool)? {
    var names: [String] = []
    for (place, segment) in segments.enumerated() {
      if let name = segment.plainName {
        names.append(name)
      } else if place == segments.count - 1, segment.choosesAlone {
        return (names, true)
      } else {
        return nil
      }
    }
    return (names, false)
  }

  /// Whether the path selects nothing inside the array that the names of members lead to.
  func staysOutside(_ names: [String]) -> Bool {
    for (place, segment) in segments.enumerated() {
      guard !segment.isDescendant, segment.selectors.count == 1 else { return false }
      let isArray = place >= names.count
      switch segment.selectors[0] {
      case .name(let name) where isArray || name != names[place]: return true
      case .name: break
      // Before the array, the path goes through objects. A wildcard can select the member that leads to the array.
      case .wildcard where !isArray: break
      case .index, .slice: return !isArray
      case .wildcard, .filter: return false
      }
    }
    return segments.count < names.count
  }
}

extension JSONPath.Segment {
  /// The name if the step selects one member by its name, otherwise nil.
  fileprivate var plainName: String? {
    guard !isDescendant, selectors.count == 1, case .name(let name) = selectors[0] else {
      return nil
    }
    return name
  }

  /// Whether the step tests each element of an array without looking at other elements.
  fileprivate var choosesAlone: Bool {
    guard !isDescendant, selectors.count == 1 else { return false }
    return switch selectors[0] {
    case .wildcard: true
    case .filter(let filter): filter.isOfElementAlone
    case .name, .index, .slice: false
    }
  }
}

extension JSONFilter {
  /// Whether the filter looks only at the element that it tests, so that its result is the same in a window.
  fileprivate var isOfElementAlone: Bool {
    switch self {
    case .any(let filters), .all(let filters): filters.allSatisfy(\.isOfElementAlone)
    case .not(let filter): filter.isOfElementAlone
    case .query(let query), .count(let query), .value(let query): query.isOfElementAlone
    case .literal: true
    case .length(let operand): operand.isOfElementAlone
    case .compares(let left, _, let right): left.isOfElementAlone && right.isOfElementAlone
    case .finds(let operand, let pattern, _):
      if case .computed(let other) = pattern {
        operand.isOfElementAlone && other.isOfElementAlone
      } else {
        operand.isOfElementAlone
      }
    }
  }
}

extension JSONFilter.Query {
  fileprivate var isOfElementAlone: Bool {
    isRelative
      && segments.allSatisfy { segment in
        segment.selectors.allSatisfy { selector in
          if case .filter(let filter) = selector { filter.isOfElementAlone } else { true }
        }
      }
  }
}
