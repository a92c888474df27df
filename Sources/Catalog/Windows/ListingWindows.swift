/// A body of a section in pieces, each a body of its own: all that stands around the items, and some of them.
///
/// A tree of a whole catalog, and the items read from it, take several times its bytes; those of a window
/// are gone with the next. All windows together are the body: one that is no JSON makes at least one window
/// that is none, and what each is decoded to, put together in order, is what the body would be decoded to.
package struct ListingWindows: Sequence, IteratorProtocol {
  private let body: any RandomAccessBody
  /// Where the text begins: behind the byte order mark, if there is one.
  private let start: Int
  private var scan = ArrayScan()
  private var number = 0

  /// How many bytes of items make a window at least, where a smaller body is not worth the cutting.
  private static let size = 2 << 20
  /// How many bytes around the items each window may repeat.
  private static let mostAround = 64 << 10

  /// Cuts a body; nil when it has to be read whole: it is small, or the paths of the decoder may look at all
  /// items at once, or the items do not stand in one array.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - decoder: The decoder that is to read it.
  ///   - size: How many bytes of items make a window at least.
  package init?(_ body: some RandomAccessBody, for decoder: ListingDecoder, size: Int = Self.size)
  {
    guard body.count > 2 * size, decoder.mapping.notation == .json,
      decoder.mapping.transform == nil
    else { return nil }
    self.body = body
    var beginning: [UInt8] = [0, 0, 0]
    guard beginning.withUnsafeMutableBytes({ body.copy(0..<3, to: $0) }) else { return nil }
    start = beginning.count - JSONText(beginning).bytes.count
    for path in decoder.mapping.items {
      guard let names = path.plainNames else { return nil }
      var scan = ArrayScan()
      switch scan.find(names, in: body, from: start, window: size) {
      case .unsure: return nil
      case .none: continue
      case .array:
        let around = body.count - (scan.end - scan.start)
        let others = decoder.pathsAroundItems
        guard !scan.cuts.isEmpty, around <= Self.mostAround,
          others.allSatisfy({ $0.staysOutside(names) })
        else { return nil }
        self.scan = scan
        return
      }
    }
    return nil
  }

  /// The next window; nil behind the last.
  ///
  /// One that cannot be read is empty, and so no JSON.
  package mutating func next() -> [UInt8]? {
    guard number <= scan.cuts.count else { return nil }
    let first = number == 0 ? scan.start : scan.cuts[number - 1] + 1
    let last = number == scan.cuts.count ? scan.end : scan.cuts[number]
    number += 1
    let ranges = [start..<scan.start, first..<last, scan.end..<body.count]
    let size = ranges.reduce(0) { $0 + $1.count }
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      for range in ranges {
        let room = buffer.extracting(filled..<filled + range.count)
        guard body.copy(range, to: UnsafeMutableRawBufferPointer(room)) else {
          filled = 0
          return
        }
        filled += range.count
      }
    }
  }
}

extension ListingDecoder {
  /// The paths that are read from the body beside those of the items.
  fileprivate var pathsAroundItems: [JSONPath] {
    let envelope = mapping.envelope
    return envelope.title + envelope.subtitle + envelope.status + [nextPage].compactMap(\.self)
  }
}

extension JSONPath {
  /// The names of a path that takes one member after the other; nil of any other path.
  fileprivate var plainNames: [String]? {
    var names: [String] = []
    for segment in segments {
      guard let name = segment.plainName else { return nil }
      names.append(name)
    }
    return names
  }

  /// Whether the path never looks into what is at `names`, an array.
  fileprivate func staysOutside(_ names: [String]) -> Bool {
    for (place, segment) in segments.enumerated() {
      guard !segment.isDescendant, segment.selectors.count == 1 else { return false }
      let isArray = place >= names.count
      switch segment.selectors[0] {
      case .name(let name) where isArray || name != names[place]: return true
      case .name: break
      // Past the members on the way, which are objects.
      case .wildcard where !isArray: break
      case .index, .slice: return !isArray
      case .wildcard, .filter: return false
      }
    }
    return segments.count < names.count
  }
}

extension JSONPath.Segment {
  /// The one name that the step takes; nil when it takes anything else.
  fileprivate var plainName: String? {
    guard !isDescendant, selectors.count == 1, case .name(let name) = selectors[0] else {
      return nil
    }
    return name
  }
}
