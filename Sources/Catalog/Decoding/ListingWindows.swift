import Glibc

/// Decodes a large response in windows, which are complete smaller bodies.
///
/// A window has some of the items, and repeats everything around the items. For example, the response `{"total": 2,
/// "items": [1, 2]}` can be cut into `{"total": 2, "items": [1]}` and `{"total": 2, "items": [2]}`.
///
/// Windows save memory, because a parsed response takes several times as much memory as its bytes. The items of one
/// window are freed before the next window is read.
///
/// Each byte of the response is in at least one window. If the response is not valid JSON, at least one window is not
/// valid either. If the results of the windows are joined in order, they equal the result of the whole response.
package struct ListingWindows {
  /// The ranges of the response that make up a window.
  private struct Plan {
    let ranges: [Range<Int>]
    /// Whether the window only has further items of the section that the previous window ended with.
    ///
    /// It matters only if the response has many sections.
    var isContinuation = false
    /// The number of lines of the response that come before this window, if the notation is one of lines.
    var linesBefore = 0
  }

  private let body: any RandomAccessBody
  private var decoder: ListingDecoder
  private var plans: ArraySlice<Plan> = []
  private var earlier = ListingDecoder.EarlierSections()

  /// The minimum number of bytes of items in a window.
  ///
  /// Responses of up to twice this size are not cut.
  private static let size = 2 << 20
  /// The maximum number of bytes around the items, which every window repeats.
  ///
  /// An XML document can have, for example, all its categories before the records.
  private static let mostAround = 512 << 10
  /// The number of spaces that simdjson needs at the end of a text, so that it can read more bytes at once.
  ///
  /// Without them, it would copy the text.
  private static let padding = 64

  /// Plans the windows of a response.
  ///
  /// The result is nil if the response must be decoded whole. This is so if it is small, or if a path of the mapping
  /// can look at all items at once. The items must be in one array, or in one array for each section.
  ///
  /// - Parameters:
  ///   - body: The response, in any notation.
  ///   - decoder: The decoder of the source.
  ///   - size: The minimum number of bytes of items in a window.
  package init?(_ body: some RandomAccessBody, for decoder: ListingDecoder, size: Int = Self.size)
  {
    var beginning: [UInt8] = []
    guard body.count > 2 * size, decoder.mapping.transform == nil,
      body.read(into: &beginning, from: 0, most: 1 << 20)
    else { return nil }
    (self.body, self.decoder) = (body, decoder)
    self.decoder.mapping.notation.kind = decoder.mapping.notation.kind(of: beginning)
    let start = beginning.count - JSONText(beginning).bytes.count
    guard let plans = Self.plans(of: body, from: start, self.decoder, size), plans.count > 1 else {
      return nil
    }
    self.plans = plans[...]
  }

  /// The number of bytes in the windows that have not been decoded.
  package var bytesLeft: Int { plans.reduce(0) { $0 + Self.count($1.ranges) } }

  private static func count(_ ranges: [Range<Int>]) -> Int { ranges.reduce(0) { $0 + $1.count } }

  /// Decodes the next window.
  ///
  /// - Returns: The sections, or parts of sections, that the window contains, or nil after the last window. Call
  ///   ``DecodedListing/settleAbsence()`` after all results are joined.
  /// - Throws: ``CatalogError`` if the window cannot be decoded alone. In that case, decode the whole body, which
  ///   either succeeds or gives an error with the right position.
  package mutating func next() throws(CatalogError) -> DecodedListing? {
    guard let plan = plans.popFirst() else { return nil }
    let size = Self.count(plan.ranges) + Self.padding
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { [body] buffer, filled in
      let room = UnsafeMutableRawBufferPointer(buffer)
      for range in plan.ranges {
        let part = UnsafeMutableRawBufferPointer(rebasing: room[filled..<filled + range.count])
        guard body.copy(range, to: part) else {
          // If the response cannot be read from its file, decoding fails, because an empty body is not valid.
          filled = 0
          return
        }
        filled += range.count
      }
      if let base = room.baseAddress { memset(base + filled, 0x20, Self.padding) }
      filled = size
    }
    decoder.linesBefore = plan.linesBefore
    return try decoder.listing(bytes, after: &earlier, isContinuation: plan.isContinuation)
  }

  /// Plans the windows of a response.
  ///
  /// A window has one or more small sections, or a part of a large section. A response of one section counts as this
  /// section.
  private static func plans(
    of body: some RandomAccessBody,
    from start: Int,
    _ decoder: ListingDecoder,
    _ size: Int
  ) -> [Plan]? {
    let (notation, envelope) = (decoder.mapping.notation, decoder.mapping.envelope)
    var outside = envelope.status + [decoder.paging?.path].compactMap(\.self)
    var sections = [start..<body.count]
    if let parts = decoder.source.parts {
      guard notation.kind == .json, parts.each.endsInMembers,
        let names = parts.each.namesOfArray?.names, outside.allSatisfy({ $0.staysOutside(names) })
      else { return nil }
      var scan = ArrayScan(body, for: [names], size: 1)
      guard let list = scan.arrays(in: sections[0])?[names] else { return nil }
      sections = list.parts.map(\.range)
      outside = [parts.key, parts.title, parts.subtitle].compactMap(\.self)
    } else {
      outside += envelope.title + envelope.subtitle
    }
    guard let first = sections.first?.lowerBound, let last = sections.last?.upperBound,
      body.count - (last - first) <= mostAround
    else { return nil }
    // Each window begins like the response, with its byte order mark.
    let (head, tail) = (0..<first, last..<body.count)
    let ways = decoder.mapping.items.compactMap { $0.namesOfArray?.names }
    var scan = ArrayScan(body, for: ways, size: size)
    var plans: [Plan] = []
    /// The range of small sections that will be in one window.
    var group: Range<Int>?
    func endGroup() {
      if let group { plans.append(Plan(ranges: [head, group, tail])) }
      group = nil
    }
    for section in sections {
      // The records of another notation are at the place that they have in the JSON that is made of it.
      let place = notation.kind == .jsonl ? [] : ["items"]
      let arrays =
        notation.kind == .json
        ? scan.arrays(in: section)
        : RecordCuts(body, from: start, notation, size: size).map { [place: $0] }
      guard let arrays else { return nil }
      var found: RecordCuts?
      for path in decoder.mapping.items where found == nil {
        guard let (names, isChoice) = path.namesOfArray,
          // The JSON of an XML document also has the elements around the records.
          notation.kind != .xml || names.first != "around"
        else { return nil }
        found = arrays[names]
        guard let found, found.parts.count > 1 else { continue }
        // If elements of the array are arrays themselves, a path such as `$.items[*]` leads to lists of items.
        guard section.count - found.range.count <= mostAround, !(isChoice && found.holdsArrays),
          outside.allSatisfy({ $0.staysOutside(names) })
        else { return nil }
      }
      guard let found, found.parts.count > 1 else {
        let joined = (group ?? section).lowerBound..<section.upperBound
        group = joined
        if joined.count >= size { endGroup() }
        continue
      }
      endGroup()
      let before = section.lowerBound..<found.range.lowerBound
      let after = found.range.upperBound..<section.upperBound
      for (place, part) in found.parts.enumerated() {
        plans.append(
          Plan(
            ranges: [head, before, part.range, after, tail],
            isContinuation: place > 0,
            linesBefore: part.linesBefore
          )
        )
      }
    }
    endGroup()
    return plans
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
      guard let selector = segment.onlySelector else { return nil }
      let isLast = place == segments.count - 1
      switch selector {
      case .name(let name): names.append(name)
      case .wildcard where isLast: return (names, true)
      // A filter can look at other elements only by a second `$`.
      case .filter where isLast && !description.dropFirst().contains("$"): return (names, true)
      case .wildcard, .filter, .index, .slice: return nil
      }
    }
    return (names, false)
  }

  /// Whether the path selects nothing inside the array that the names of members lead to.
  func staysOutside(_ names: [String]) -> Bool {
    for (place, segment) in segments.enumerated() {
      guard let selector = segment.onlySelector else { return false }
      let isArray = place >= names.count
      switch selector {
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
