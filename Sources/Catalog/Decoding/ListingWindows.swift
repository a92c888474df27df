/// A part of a body that can be decoded by itself.
package struct ListingWindow: Sendable {
  /// A complete body, padded with white space so that the parser does not have to copy it.
  ///
  /// It is empty, and so not valid JSON, when the whole body could not be read.
  package let bytes: [UInt8]
  /// How many sections of the body come before this window; 0 if the body is one section.
  let sectionsBefore: Int
  /// Whether the window contains whole sections or a part of one.
  let extent: Extent
  /// The number of bytes in all later windows.
  package let bytesAfter: Int
  /// The notation of the window.
  let kind: BodyFormat.Kind
  /// How many lines of the body come before this window; 0 in notations where lines do not matter.
  let linesBefore: Int

  /// Whether a window of a body with many sections contains whole sections or a part of one.
  enum Extent {
    /// One or several whole sections.
    case whole
    /// The first items of one section.
    case beginning
    /// Further items of one section.
    case continuation
  }

  /// Whether the window only continues the last section of the previous window.
  package var isContinuation: Bool { extent == .continuation }
}

/// Cuts a large body into windows.
///
/// Each window is a complete smaller body: everything around the items, and some of the items.
///
/// A parsed catalog and its items take several times the memory of the body. Therefore the items of one window are
/// freed before the next window is read.
///
/// The windows together cover the body: if the body is not JSON, at least one window is not JSON either. The results of
/// all windows, joined in order, equal the result of the whole body.
package struct ListingWindows: Sequence, IteratorProtocol {
  /// A window that has not been read yet.
  private struct Plan {
    var ranges: [Range<Int>]
    var sectionsBefore = 0
    var extent = ListingWindow.Extent.whole
    var linesBefore = 0
  }

  private let body: any RandomAccessBody
  private let kind: BodyFormat.Kind
  private var plans: ArraySlice<Plan>
  /// The bytes of the last window.
  ///
  /// The next window reuses their memory if nothing else refers to it.
  private var bytes: [UInt8] = []

  /// The minimum number of bytes of items in a window.
  ///
  /// Smaller bodies are not cut.
  private static let size = 2 << 20
  /// The maximum number of bytes around the items, which every window repeats.
  ///
  /// The limit is larger around records, because an XML feed has, for example, its categories there.
  private static let mostAround = 64 << 10
  private static let mostAroundRecords = 512 << 10
  /// Padding that simdjson may read after a text.
  private static let padding = [UInt8](repeating: 0x20, count: 64)

  /// Makes the windows of a body; nil when the body has to be read whole.
  ///
  /// Small bodies are read whole, and so are bodies whose decoder may look at all items at once. The items must be in one
  /// array, or in one array for each section.
  ///
  /// - Parameters:
  ///   - body: The body, in any notation.
  ///   - decoder: The decoder that will read the windows.
  ///   - parts: The paths to the body's sections; nil when the body is one section.
  ///   - size: The least number of bytes of items in a window.
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
    // JSON Lines that were recognized by name or type have already been converted to an array.
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

  /// The next window; nil after the last.
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

  /// The windows of a table, a JSON Lines text or an XML document.
  ///
  /// The decoder sees their records as the array `items`.
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
    // The alternatives before this one are for other notations, and match nothing here.
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

  /// The windows of the body of one section.
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
        // If elements of the array are arrays, a path that ends with a choice may lead to items or to lists of items.
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

  /// The windows of a body of many sections: a window has several small sections, or a part of a large one.
  private static func plans(
    of body: some RandomAccessBody,
    from start: Int,
    _ decoder: ListingDecoder,
    _ sections: CombinedSections,
    _ size: Int
  ) -> [Plan]? {
    let ways = decoder.mapping.items.map(\.namesOfArray)
    let fromSection = [sections.key, sections.title, sections.subtitle].compactMap(\.self)
    guard let names = sections.each.namesOfArray?.names, sections.each.isOfEvery,
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
  /// The ranges of elements between cuts.
  fileprivate var parts: [Range<Int>] {
    zip([start] + cuts.map { $0 + 1 }, cuts + [end]).map { $0..<$1 }
  }
}

extension ListingDecoder {
  /// The paths to values outside the items.
  fileprivate var pathsAroundItems: [JSONPath] {
    let envelope = mapping.envelope
    return envelope.title + envelope.subtitle + envelope.status + [nextPage].compactMap(\.self)
  }
}

extension JSONPath {
  /// The member names that lead to an array; nil for a path of another form.
  ///
  /// `isChoice` says whether the path ends with a test of each single element of the array.
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

  /// Whether the path ends with a wildcard, which selects all elements of an array.
  var isOfEvery: Bool { segments.last?.selectors == [.wildcard] }

  /// Whether the path never leads into the array at `names`.
  func staysOutside(_ names: [String]) -> Bool {
    for (place, segment) in segments.enumerated() {
      guard !segment.isDescendant, segment.selectors.count == 1 else { return false }
      let isArray = place >= names.count
      switch segment.selectors[0] {
      case .name(let name) where isArray || name != names[place]: return true
      case .name: break
      // The path goes through objects before it reaches the array; a wildcard may select the member that leads there.
      case .wildcard where !isArray: break
      case .index, .slice: return !isArray
      case .wildcard, .filter: return false
      }
    }
    return segments.count < names.count
  }
}

extension JSONPath.Segment {
  /// The member name that the step selects; nil when the step selects anything else.
  fileprivate var plainName: String? {
    guard !isDescendant, selectors.count == 1, case .name(let name) = selectors[0] else {
      return nil
    }
    return name
  }

  /// Whether the step selects elements by testing each element without looking at others.
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
  /// Whether the filter looks only at the element that it tests.
  fileprivate var isOfElementAlone: Bool {
    switch self {
    case .any(let filters), .all(let filters): filters.allSatisfy(\.isOfElementAlone)
    case .not(let filter): filter.isOfElementAlone
    case .exists(let query): query.isOfElementAlone
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

extension JSONFilter.Operand {
  fileprivate var isOfElementAlone: Bool {
    switch self {
    case .literal: true
    case .only(let query), .count(let query), .value(let query): query.isOfElementAlone
    case .length(let operand): operand.isOfElementAlone
    }
  }
}
