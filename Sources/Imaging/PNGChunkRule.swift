/// What a chunk that is carried over has to look like. (PNG specification, third edition, section 11.3)
struct PNGChunkRule {
  /// Whether a picture may have several of the kind.
  let repeats: Bool
  private let holds: (Content) -> Bool

  /// A chunk's payload with what it depends on.
  private struct Content {
    let reader: ByteReader
    let payload: Range<Int>
    let colourType: Int
    let depth: Int

    var count: Int { payload.count }

    func byte(_ index: Int) -> Int { reader.byte(payload.lowerBound + index) ?? 0 }

    /// Samples of a pixel that a chunk speaks of: a palette's colours are three.
    var channels: Int {
      switch colourType {
      case 0: 1
      case 4: 2
      case 6: 4
      default: 3
      }
    }

    /// Whether it begins with a keyword of 1 to 79 bytes and a zero.
    var hasKeyword: Bool {
      let end = reader.bytes[payload].firstIndex(of: 0)
      return end.map { (1...79).contains($0 - payload.lowerBound) } ?? false
    }
  }

  /// The rule for a type of chunk; nil for one that is never carried over.
  init?(_ type: String) {
    repeats = ["tEXt", "zTXt", "iTXt"].contains(type)
    switch type {
    case "tEXt": holds = \.hasKeyword
    case "iTXt", "zTXt", "iCCP": holds = \.hasKeyword
    case "gAMA": holds = { $0.count == 4 && $0.reader.long($0.payload.lowerBound) != 0 }
    case "cHRM": holds = { $0.count == 32 }
    case "sRGB": holds = { $0.count == 1 && $0.byte(0) <= 3 }
    case "sBIT":
      holds = { content in
        let most = content.colourType == 3 ? 8 : content.depth
        return content.count == content.channels
          && (0..<content.count).allSatisfy { (1...max(most, 1)).contains(content.byte($0)) }
      }
    // PNG has no colours but RGB, so that the third number is 0.
    case "cICP": holds = { $0.count == 4 && $0.byte(2) == 0 && $0.byte(3) <= 1 }
    case "mDCV": holds = { $0.count == 24 }
    case "cLLI": holds = { $0.count == 8 }
    case "pHYs": holds = { $0.count == 9 && $0.byte(8) <= 1 }
    case "bKGD":
      holds = { content in
        switch content.colourType {
        case 3: content.count == 1
        case 0, 4: content.count == 2
        default: content.count == 6
        }
      }
    case "tIME":
      holds = {
        $0.count == 7 && (1...12).contains($0.byte(2)) && (1...31).contains($0.byte(3))
          && $0.byte(4) < 24 && $0.byte(5) < 60 && $0.byte(6) <= 60
      }
    case "eXIf":
      holds = {
        $0.count >= 8
          && ($0.reader.matches("II*\0", at: $0.payload.lowerBound)
            || $0.reader.matches("MM\0*", at: $0.payload.lowerBound))
      }
    default: return nil
    }
  }

  /// Whether a chunk of a picture of this colour type and depth keeps to the rule.
  func allows(
    _ reader: ByteReader,
    _ payload: Range<Int>,
    colourType: Int,
    depth: Int
  ) -> Bool {
    holds(Content(reader: reader, payload: payload, colourType: colourType, depth: depth))
  }
}
