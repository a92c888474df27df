import Base

/// Decodes the palette indices of a GIF's frame, which are stored as codes. (GIF89a, appendix F)
///
/// A code is a palette index, the number of a string of indices in a table, the clear code, or the end code. After each
/// code, the table gets a string: the string of the previous code, and the first index of this code. For example, the
/// codes 5 and 7 add the string 5, 7. The clear code empties the table. If the table is full, it stays as it is until
/// the next clear code.
///
/// The time is linear in the number of indices and in the bytes of the codes.
final class GIFCodes {
  /// The string of a code: the string of the code `prefix`, and the index `last`.
  ///
  /// `count` is the number of its indices. A string of one index has no prefix.
  private struct Entry {
    var prefix: UInt16 = 0
    var count: UInt16 = 1
    var first: UInt8
    var last: UInt8
  }

  /// Reads codes from data blocks; a code can begin in one block and end in the next one.
  private struct Reader {
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

  /// The number of bits of the longest codes.
  private static let longest = 12
  /// The number of codes, and also more than the number of indices of any string.
  private static let most = 1 << longest

  private let name: String
  /// The number of bits of a palette index; the clear code and the end code have one bit more.
  private let size: Int
  private var reader: Reader
  /// The strings of all codes; those of the clear code and of the end code have no meaning.
  private var table: [Entry]
  /// The number of bits of the next code.
  private var width: Int
  /// The smallest number that has no string yet.
  private var next: Int
  /// The code before the next one; nil after a clear code.
  private var previous: Int?
  /// The indices that were decoded last.
  private var decoded = [UInt8](repeating: 0, count: most * 8)
  /// The positions in `decoded` of the indices that have not been read yet.
  private var waiting = 0..<0
  /// The number of indices that have not been decoded yet.
  private var left: Int

  /// Starts to decode a frame.
  ///
  /// - Parameters:
  ///   - bytes: The file, which must stay valid while the indices are read.
  ///   - range: The place of the codes in the file. Its first byte is the number of bits of an index. The data blocks
  ///     follow, and the last one is empty. The range is nil if the file ends before the last block.
  ///   - count: The number of palette indices. Codes after them are ignored.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when the blocks are not whole, or the codes are too long.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ range: Range<Int>?,
    count: Int,
    name: String
  ) throws(LarderError) {
    guard let range, bytes[range.lowerBound] < Self.longest else { throw Self.damage(name) }
    self.name = name
    size = Int(bytes[range.lowerBound])
    reader = Reader(bytes, from: range.lowerBound + 1)
    (width, next, left) = (size + 1, 1 << size + 2, count)
    table = (0..<Self.most).map {
      // A file can have indices of more than 8 bits. Browsers use the lowest 8 bits of them.
      let index = UInt8(truncatingIfNeeded: $0)
      return Entry(first: index, last: index)
    }
  }

  /// Writes the next `count` palette indices to `target`.
  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    var done = 0
    while done < count {
      if waiting.isEmpty { try decode() }
      let part = waiting.prefix(count - done)
      decoded.withUnsafeBufferPointer {
        _ = UnsafeMutableBufferPointer(start: target + done, count: part.count)
          .update(fromContentsOf: $0[part])
      }
      done += part.count
      waiting = part.upperBound..<waiting.upperBound
    }
  }

  /// Decodes further indices.
  private func decode() throws(LarderError) {
    let (clear, left) = (1 << size, left)
    var (reader, width, next, previous, filled) = (reader, width, next, previous, 0)
    let isWhole = table.withUnsafeMutableBufferPointer { table in
      decoded.withUnsafeMutableBufferPointer { decoded in
        // Every code has at most 12 bits, so it is an index of the table. Any string fits into the space that is left.
        while filled < left, filled <= decoded.count - Self.most {
          guard let code = reader.code(width) else { return false }
          if code == clear {
            (width, next, previous) = (size + 1, clear + 2, nil)
            continue
          }
          if let previous, next < Self.most {
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
            decoded[place] = table[link].last
            link = Int(table[link].prefix)
          }
          (filled, previous) = (end, code)
          if next >= 1 &<< width, width < Self.longest { width += 1 }
        }
        return filled > 0
      }
    }
    guard isWhole else { throw Self.damage(name) }
    waiting = 0..<min(filled, left)
    self.left = left - waiting.count
    (self.reader, self.width, self.next, self.previous) = (reader, width, next, previous)
  }

  private static func damage(_ name: String) -> LarderError {
    .damaged(name, "its first frame is broken or ends too early")
  }
}
