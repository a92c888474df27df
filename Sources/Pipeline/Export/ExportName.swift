import Cache
import Catalog

/// The names of files in an exported folder: no web server runs, hides or misreads one.
enum ExportName {
  /// The longest name that every file system takes, in bytes.
  static let longest = 255

  /// The endings that fit a type; the first is the one to add.
  private static func endings(of type: PictureType) -> [String] {
    switch type {
    case .jpeg: ["jpg", "jpeg"]
    case .png: ["png"]
    case .gif: ["gif"]
    case .webp: ["webp"]
    case .avif: ["avif"]
    }
  }

  /// Every ending of a picture.
  private static let pictures = Set(PictureType.allCases.flatMap(endings))

  /// The name of a picture, ending as its bytes are.
  ///
  /// An ending that fits stays, any other gets the right one behind it: `x.png` that is a GIF
  /// becomes `x.png.gif`. Before it no dot stands that a server could take for the beginning of an
  /// ending, because some run a file for any of its endings: `x.html` and `x.php.gif` become
  /// `x-html.gif` and `x-php.gif`. (Apache, mod_mime, "Files with Multiple Extensions")
  static func fitting(_ name: String, _ type: PictureType) -> String {
    var parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let endings = endings(of: type)
    var ending = endings[0]
    if parts.count > 1, let last = parts.last, endings.contains(last.lowercased()) {
      ending = last
      parts.removeLast()
    }
    let stem = parts.dropFirst().reduce(parts.first ?? "") { $0 + (isEnding($1) ? "-" : ".") + $1 }
    return "\(stem).\(ending)"
  }

  /// Whether a server may know what follows a dot: a few letters and digits, not of a picture, and
  /// no number.
  private static func isEnding(_ part: String) -> Bool {
    guard part.utf8.count <= 12, let first = part.utf8.first, !(0x30...0x39).contains(first) else {
      return false
    }
    return !pictures.contains(part.lowercased())
      && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
  }

  /// A segment of a URL as a name below the folder.
  ///
  /// It is decoded, as a web server decodes it before it looks for a file. What would lead
  /// elsewhere decoded, holds controls or turns the direction of text, or is no text, stays as it
  /// is sent. A dot at the beginning, which hides a file, is encoded.
  static func decoded(_ segment: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(segment.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    let leads = bytes.contains(UInt8(ascii: "/")) || bytes.contains(UInt8(ascii: "\\"))
    guard !leads, let text = String(validating: bytes, as: UTF8.self), PlainText.isPlain(text),
      text.first?.isWhitespace != true, text.last?.isWhitespace != true
    else { return shown(segment.replacing("\\", with: "%5C")) }
    return shown(text)
  }

  /// The segment with its first dots encoded, all of them where there is nothing else.
  private static func shown(_ segment: String) -> String {
    guard segment.hasPrefix(".") else { return segment }
    if segment == ".." { return "%2E%2E" }
    return "%2E" + segment.dropFirst()
  }

  /// What two paths have in common that a file system may take for one: case and composition
  /// aside.
  static func folded(_ path: String) -> String { path.uppercased().lowercased() }
}
