import Crypto

/// What names a picture everywhere: the first 63 bits of the SHA-256 of its URL.
///
/// A pure function of the URL, so that two machines agree on it without talking, rows can refer
/// to a picture before it is fetched, and the index needs no second key. Among a million URLs two
/// share an identity with a chance of one in 10^7.
package struct PictureID: Hashable, Sendable, Comparable, Codable {
  /// The number, never negative: SQLite keeps it as the row's own key.
  package let number: Int64

  /// An identity read back from the index.
  package init(number: Int64) {
    self.number = number
  }

  /// The identity of the picture at `url`, the text as it is sent.
  package init(url: String) {
    var url = url
    self.number = url.withUTF8 { utf8 in
      SHA256.hash(data: UnsafeRawBufferPointer(utf8)).withUnsafeBytes { digest in
        Int64(bigEndian: digest.loadUnaligned(as: Int64.self)) & Int64.max
      }
    }
  }

  /// Reads the number alone.
  package init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes the number alone.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }

  /// Orders by number.
  package static func < (left: PictureID, right: PictureID) -> Bool {
    left.number < right.number
  }

  /// The folder below `images/` of the picture with this identity.
  var folder: UInt8 {
    // The identity has 63 bits: its topmost is always clear, so take the eight below it.
    UInt8(truncatingIfNeeded: number >> Self.bitsBelowFolder)
  }

  /// How many of an identity's lowest bits do not count for its folder.
  static let bitsBelowFolder = 55

  /// How many identities follow the lowest of a folder within it.
  static let othersInFolder = Int64(1) << bitsBelowFolder - 1

  /// The first 12 hexadecimal digits, lower case.
  var shortHex: String {
    String(unsafeUninitializedCapacity: 12) { digits in
      for place in 0..<12 {
        let value = UInt8(truncatingIfNeeded: number >> (60 - 4 * place)) & 15
        digits.initializeElement(
          at: place,
          to: value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
        )
      }
      return 12
    }
  }
}

/// Where a picture lies in the cache: `images/<2 hex>/<stem>-<12 hex>.<ext>`.
///
/// Every part comes from the URL alone. The stem and extension are for people; the digits alone
/// tell two pictures apart, so a hostile name can neither collide nor leave the folder.
package struct PictureName: Hashable, Sendable {
  /// The folder below `images/`, 0 to 255.
  package let folder: UInt8
  /// The file's own name: ASCII, at most 64 bytes, never hidden.
  package let file: String

  /// The name of the picture at `url`, whose identity the caller already has.
  package init(url: String, id: PictureID) {
    self.folder = id.folder
    var url = url
    self.file = url.withUTF8 { Self.file($0, id) }
  }

  /// The path relative to the cache.
  package var path: String {
    "images/\(Self.folderName(folder))/\(file)"
  }

  /// A path in the cache without its ending.
  static func withoutEnding(_ path: String) -> Substring {
    path[..<(path.lastIndex(of: ".") ?? path.endIndex)]
  }

  /// Whether a path in the cache is one that a picture could have, of whatever URL.
  static func mayName(_ path: String) -> Bool { lowestID(at: path) != nil }

  /// The lowest identity that a picture with this path in the cache can have; nil when none has such a path.
  ///
  /// A path says all but the lowest ``unnamedBits`` of it.
  static func lowestID(at path: String) -> PictureID? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "images", let folder = UInt8(parts[1], radix: 16),
      folderName(folder) == parts[1], let dot = parts[2].lastIndex(of: "."),
      let dash = parts[2][..<dot].lastIndex(of: "-")
    else { return nil }
    let digits = parts[2][parts[2].index(after: dash)..<dot]
    guard let upper = Int64(digits, radix: 16), upper >> 47 == 0 else { return nil }
    let lowest = PictureID(number: upper << unnamedBits)
    return lowest.folder == folder && lowest.shortHex == digits ? lowest : nil
  }

  /// The identities that a picture with this path in the cache can have; nil when none has such a path.
  package static func ids(at path: String) -> ClosedRange<PictureID>? {
    lowestID(at: path).map { $0...PictureID(number: $0.number | (1 << unnamedBits - 1)) }
  }

  /// How many of an identity's lowest bits a path does not say.
  static let unnamedBits = 16

  /// Two hexadecimal digits.
  static func folderName(_ folder: UInt8) -> String {
    let digits = String(folder, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  /// The extensions that a picture's file may keep from its URL.
  private static let suffixes: Set<String> = ["jpg", "jpeg", "png", "gif", "webp", "avif"]

  /// A safe stem of at most 40 bytes, the identity and an extension, from the last segment of the URL's path.
  private static func file(_ url: UnsafeBufferPointer<UInt8>, _ id: PictureID) -> String {
    let path = url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let segment = path.suffix(while: { $0 != UInt8(ascii: "/") })
    var stem = segment
    var suffix = "img"
    if let dot = segment.lastIndex(of: UInt8(ascii: ".")) {
      let candidate = String(decoding: segment[segment.index(after: dot)...], as: UTF8.self)
        .lowercased()
      if suffixes.contains(candidate) {
        suffix = candidate
        stem = segment[..<dot]
      }
    }
    return String(unsafeUninitializedCapacity: 64) { name in
      var end = 0
      for byte in stem.prefix(40) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          name.initializeElement(at: end, to: byte)
          end += 1
        default:
          guard end > 0, name[end - 1] != UInt8(ascii: "-") else { continue }
          name.initializeElement(at: end, to: UInt8(ascii: "-"))
          end += 1
        }
      }
      while end > 0, name[end - 1] == UInt8(ascii: "-") { end -= 1 }
      func add(_ text: some Collection<UInt8>) {
        end = name[end...].initialize(fromContentsOf: text)
      }
      if end == 0 { add("picture".utf8) }
      add(CollectionOfOne(UInt8(ascii: "-")))
      add(id.shortHex.utf8)
      add(CollectionOfOne(UInt8(ascii: ".")))
      add(suffix.utf8)
      return end
    }
  }
}

extension BidirectionalCollection {
  /// The longest suffix whose elements all satisfy `predicate`.
  fileprivate func suffix(while predicate: (Element) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, predicate(self[index(before: start)]) { formIndex(before: &start) }
    return self[start...]
  }
}
