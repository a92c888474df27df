import Base

/// The key of a picture: the first 128 bits of the SHA-256 of the picture's identity.
///
/// The identity is the picture's URL, or the part of the URL that the rule in the catalog file keeps. The key depends
/// on nothing else. So two machines use the same key without talking to each other, and rows can refer to a picture
/// that was not fetched yet.
package struct PictureID: Hashable, Sendable, Comparable {
  package let digest: IdentityDigest

  /// Makes a key from its digest.
  package init(_ digest: IdentityDigest) {
    self.digest = digest
  }

  /// Makes the key of the picture with the identity `url`.
  package init(url: String) {
    digest = IdentityDigest(of: url)
  }

  /// Compares the bytes.
  package static func < (left: PictureID, right: PictureID) -> Bool {
    left.digest < right.digest
  }

  /// The number of the picture's folder below `images/`, which is the first byte of the key.
  var folder: UInt8 { UInt8(truncatingIfNeeded: digest.high >> 56) }

  /// The range of the keys that begin with the number of a folder.
  static func all(inFolder folder: UInt8) -> ClosedRange<PictureID> {
    let first = UInt64(folder) << 56
    return PictureID(
      IdentityDigest(high: first, low: 0)
    )...PictureID(
      IdentityDigest(high: first | (1 << 56 - 1), low: .max)
    )
  }

  /// The key as 32 lower-case hexadecimal digits.
  package var hexadecimal: String { Hexadecimal.text(digest.bytes) }

  /// Parses 32 lower-case hexadecimal digits; nil for any other text.
  init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(String(text)), bytes.count == IdentityDigest.size else {
      return nil
    }
    digest = bytes.withUnsafeBytes { IdentityDigest(reading: $0) }
    // Upper-case digits are refused.
    guard hexadecimal == text else { return nil }
  }
}

/// The path of a picture in the cache, such as `images/3f/soup-3f…0a.jpg`.
///
/// Its form is `images/<2 hex>/<stem>-<32 hex>.<ext>`. Every part depends only on the URL. The stem and the extension
/// make the name readable for people. The digits alone tell pictures apart, so a hostile URL can neither get the file
/// name of another picture nor lead out of the folder.
package struct PictureName: Hashable, Sendable {
  /// The number of the folder below `images/`, from 0 to 255.
  package let folder: UInt8
  /// The name of the file.
  ///
  /// It has at most 80 ASCII characters, and never begins with a dot.
  package let file: String

  /// Makes the name of the picture with the identity `url` and the key `id`.
  package init(url: String, id: PictureID) {
    self.init(url, folder: id.folder, digits: id.hexadecimal)
  }

  /// Makes the name that older versions of larder gave the picture with the identity `url`.
  ///
  /// It contains only 47 bits of the key.
  init(older url: String) {
    let number = PictureID(url: url).olderNumber
    let hexadecimal = String(number >> 16, radix: 16)
    self.init(
      url,
      folder: UInt8(truncatingIfNeeded: number >> 55),
      digits: String(repeating: "0", count: 12 - hexadecimal.utf8.count) + hexadecimal
    )
  }

  /// Parses a path in the cache; nil if it cannot be the path of a picture.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "images", let folder = UInt8(parts[1], radix: 16),
      Self.folderName(folder) == parts[1], !parts[2].isEmpty, !parts[2].hasPrefix(".")
    else { return nil }
    (self.folder, file) = (folder, String(parts[2]))
  }

  private init(_ url: String, folder: UInt8, digits: String) {
    self.folder = folder
    var url = url
    file = url.withUTF8 { Self.file($0, digits) }
  }

  /// The path relative to the cache.
  package var path: String {
    "images/\(Self.folderName(folder))/\(file)"
  }

  /// A path in the cache without its extension.
  static func withoutEnding(_ path: String) -> Substring {
    path[..<(path.lastIndex(of: ".") ?? path.endIndex)]
  }

  /// The key of the picture that has this path in the cache; nil if the path does not have the form of a picture's
  /// path.
  package static func id(at path: String) -> PictureID? {
    guard let name = PictureName(path: path), let dot = name.file.lastIndex(of: "."),
      let dash = name.file[..<dot].lastIndex(of: "-"),
      let id = PictureID(hexadecimal: name.file[name.file.index(after: dash)..<dot]),
      id.folder == name.folder
    else { return nil }
    return id
  }

  /// The name of a picture folder, which is its number in two hexadecimal digits.
  static func folderName(_ folder: UInt8) -> String { Hexadecimal.text(CollectionOfOne(folder)) }

  /// If a URL ends with one of these extensions, the file name gets the same extension.
  private static let suffixes: Set<String> = ["jpg", "jpeg", "png", "gif", "webp", "avif"]

  /// Makes a file name from the parts of a URL and the digits of a key.
  ///
  /// The stem is the last segment of the URL's path, shortened to 40 bytes. Its characters other than letters, digits
  /// and `_` are replaced by `-`. The stem is followed by the digits and an extension.
  private static func file(_ url: UnsafeBufferPointer<UInt8>, _ digits: String) -> String {
    let path = url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let segment =
      path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path
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
    return String(unsafeUninitializedCapacity: 80) { name in
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
      add(digits.utf8)
      add(CollectionOfOne(UInt8(ascii: ".")))
      add(suffix.utf8)
      return end
    }
  }
}

extension PictureID {
  /// The key of 63 bits that older versions of larder used for the picture.
  var olderNumber: Int64 { digest.olderNumber }
}

extension IdentityDigest {
  /// The 63 bits of this digest that older versions of larder used as a key.
  var olderNumber: Int64 { Int64(high & UInt64(Int64.max)) }
}
