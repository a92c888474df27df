import Glibc

/// An encoding of text other than UTF-8, as documents name it.
///
/// Browsers read some names as a larger encoding than the name says, because pages mean that one: `euc-kr` as
/// Windows-949, for example. (WHATWG Encoding, sections 4.2 and 5)
package struct TextEncoding {
  /// The encodings of the C library, each with the names that stand for it.
  private static let larger: KeyValuePairs = [
    "CP949": "euc-kr ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 korean windows-949",
    "CP932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j",
    "GB18030": "gb2312 gb_2312 gb_2312-80 gbk x-gbk chinese",
    "BIG5-HKSCS": "big5 big5-hkscs x-x-big5 cn-big5",
    "WINDOWS-1252": "iso-8859-1 iso8859-1 iso_8859-1 latin1 ascii us-ascii x-cp1252",
    "WINDOWS-1254": "iso-8859-9 iso8859-9 latin5 x-cp1254",
    "CP874": "tis-620 iso-8859-11 windows-874",
    "KOI8-R": "koi8 koi",
    "WINDOWS-1251": "x-cp1251",
  ]

  /// The name in the C library.
  private let name: String
  /// Whether an encoding of several bytes for a character is meant that is larger than the one that is named.
  package var isLarger: Bool { ["CP949", "CP932", "GB18030", "BIG5-HKSCS"].contains(name) }

  /// Makes an encoding from its name in a document, or nil if the name is unknown or means UTF-8.
  package init?(_ label: some StringProtocol) {
    let label = label.lowercased()
    name =
      Self.larger.first { $0.value.split(separator: " ").contains { $0 == label } }?.key ?? label
    guard !["utf-8", "utf8"].contains(label), let converter = converter() else { return nil }
    iconv_close(converter)
  }

  private func converter() -> iconv_t? {
    let converter = iconv_open("UTF-8", name)
    return converter == iconv_t(bitPattern: -1) ? nil : converter
  }

  /// Converts a text to UTF-8.
  ///
  /// - Parameter text: The text.
  /// - Returns: The text with U+FFFD for each byte that is not of the encoding, and the number of line feeds before the
  ///   first such byte, or nil if there is none.
  package func utf8(_ text: ArraySlice<UInt8>) -> (bytes: [UInt8], lines: Int?) {
    guard let converter = converter() else { return (Array(text), nil) }
    defer { iconv_close(converter) }
    var (bytes, lines): ([UInt8], Int?) = ([], nil)
    var piece = [CChar](repeating: 0, count: 64 << 10)
    var input = text.map(CChar.init(bitPattern:))
    input.withUnsafeMutableBufferPointer { input in
      var (next, left) = (input.baseAddress, input.count)
      while left > 0 {
        let (status, count) = piece.withUnsafeMutableBufferPointer { piece in
          var (place, room) = (piece.baseAddress, piece.count)
          let status = iconv(converter, &next, &left, &place, &room)
          return (status == -1 ? errno : 0, piece.count - room)
        }
        bytes += piece[..<count].map(UInt8.init(bitPattern:))
        guard status == EILSEQ || status == EINVAL else { continue }
        lines = lines ?? bytes.count { $0 == 0x0A }
        bytes += [0xEF, 0xBF, 0xBD]
        (next, left) = (next.map { $0 + 1 }, left - 1)
      }
    }
    return (bytes, lines)
  }
}
