import Base

extension GIFBlocks {
  /// The number of bits of the longest codes.
  private static let longest = 12
  /// The number of codes, and also more than the number of indices of any string.
  private static let most = 1 << longest

  /// The string of a code: the string of the code `prefix`, and the index `last`.
  ///
  /// `count` is the number of its indices. A string of one index has no prefix.
  private struct Entry {
    var prefix: UInt16 = 0
    var count: UInt16 = 1
    var first: UInt8
    var last: UInt8
  }

  /// Decodes the palette indices of the first frame, which are stored as codes. (GIF89a, appendices E and F)
  ///
  /// A code is a palette index, the number of a string of indices in a table, the clear code, or the end code. After
  /// each code, the table gets a string: the string of the previous code, and the first index of this code. For example,
  /// the codes 5 and 7 add the string 5, 7. The clear code empties the table. If the table is full, it stays as it is
  /// until the next clear code.
  ///
  /// The time is linear in the number of indices and in the bytes of the codes.
  ///
  /// - Throws: ``LarderError`` when the codes are broken or too few, or the frame takes too much memory.
  func indices(
    in bytes: UnsafeBufferPointer<UInt8>,
    _ limits: NamedLimits
  ) throws(LarderError) -> [UInt8] {
    let (width, height) = (frame.width, frame.height)
    let all = width * height
    // The rows of an interlaced frame are put in order in a second buffer.
    try limits.check(memory: isInterlaced ? 2 * all : all)
    let damage = limits.damaged("its first frame is broken or ends too early")
    guard let codes, bytes[codes.lowerBound] < Self.longest else { throw damage }
    // The last string can be longer than the frame; the rest of it is ignored, as are further codes.
    let stored = [UInt8](unsafeUninitializedCapacity: all + Self.most) { indices, count in
      let isWhole = Self.decode(bytes, from: codes.lowerBound, all, into: indices)
      count = isWhole ? all : 0
    }
    guard !stored.isEmpty else { throw damage }
    guard isInterlaced else { return stored }
    let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { first, step in
      stride(from: first, to: height, by: step)
    }
    return [UInt8](unsafeUninitializedCapacity: all) { rows, count in
      for (index, y) in order.enumerated() {
        let row = UnsafeMutableBufferPointer(rebasing: rows[y * width..<(y + 1) * width])
        _ = row.initialize(fromContentsOf: stored[index * width..<(index + 1) * width])
      }
      count = all
    }
  }

  /// Decodes `count` indices, or more; returns false if the codes are broken or too few.
  ///
  /// The byte at `start` is the number of bits of an index, and the codes are in the data blocks behind it.
  private static func decode(
    _ bytes: UnsafeBufferPointer<UInt8>,
    from start: Int,
    _ count: Int,
    into indices: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    // The clear code and the end code have one bit more than an index.
    let size = Int(bytes[start])
    let clear = 1 << size
    var reader = CodeReader(bytes, from: start + 1)
    // A file can have indices of more than 8 bits. Browsers use the lowest 8 bits of them.
    var table = (0..<most).map { index in
      Entry(first: UInt8(truncatingIfNeeded: index), last: UInt8(truncatingIfNeeded: index))
    }
    return table.withUnsafeMutableBufferPointer { table in
      // `next` is the smallest number that has no string yet; `previous` is nil after a clear code.
      var (width, next, filled) = (size + 1, clear + 2, 0)
      var previous: Int?
      // Every code has at most 12 bits, so it is an index of the table. Any string fits into the space that is left.
      while filled < count {
        guard let code = reader.code(width) else { return false }
        if code == clear {
          (width, next, previous) = (size + 1, clear + 2, nil)
          continue
        }
        if let previous, next < most {
          // If this code names the new string itself, its first index is that of the previous string.
          let start = table[previous]
          table[next] = Entry(
            prefix: UInt16(truncatingIfNeeded: previous),
            count: start.count + 1,
            first: start.first,
            last: table[code == next ? previous : code].first
          )
          next += 1
        }
        guard code < next, code != clear + 1 else { return false }
        let end = filled + Int(table[code].count)
        var (place, link) = (end, code)
        while place > filled {
          place -= 1
          indices[place] = table[link].last
          link = Int(table[link].prefix)
        }
        (filled, previous) = (end, code)
        if next >= 1 &<< width, width < longest { width += 1 }
      }
      return true
    }
  }
}

/// Reads codes from data blocks; a code can begin in one block and end in the next one.
private struct CodeReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var offset: Int
  var endOfBlock: Int
  var bits = 0
  var count = 0

  /// Starts at the first block; all blocks must be whole, and the last one must be empty.
  init(_ bytes: UnsafeBufferPointer<UInt8>, from offset: Int) {
    (self.bytes, self.offset, endOfBlock) = (bytes, offset, offset)
  }

  /// The next code, which has `width` bits; nil at the empty block.
  mutating func code(_ width: Int) -> Int? {
    while count < width {
      if offset == endOfBlock {
        let length = Int(bytes[offset])
        guard length > 0 else { return nil }
        offset += 1
        endOfBlock = offset + length
      }
      bits |= Int(bytes[offset]) &<< count
      offset += 1
      count += 8
    }
    defer {
      bits &>>= width
      count -= width
    }
    return bits & (1 &<< width - 1)
  }
}
