import Cache
import Catalog
import Transport

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
    let bytes = percentDecoded(segment)
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

  /// The name in characters that FAT, exFAT, NTFS and SMB take, and that no shell acts on.
  ///
  /// Any other character becomes `-`, as does a dot or space at the end; a `-` at the beginning, which a program takes
  /// for an option, becomes `_`, and a name that Windows keeps for a device gets `_` in front. A name that changed also
  /// gets eight digits of its own hash, so that it depends on no other: `16:9.png` becomes `16-9-HASH.png`.
  /// (Microsoft, "Naming Files, Paths, and Namespaces"; exFAT specification, section 7.7.3)
  ///
  /// - Parameters:
  ///   - name: A name without a slash.
  ///   - hasEnding: Whether the letters behind its last dot are an ending, to stay at the end.
  /// - Returns: The name; at most ten bytes longer.
  static func portable(_ name: String, hasEnding: Bool) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let isRefused = scalar.value < 0x20 || scalar.value == 0x7F || refused.contains(scalar)
      scalars.append(isRefused ? "-" : scalar)
    }
    while let last = scalars.last, last == "." || last == " " {
      scalars.removeLast()
      scalars.append("-")
    }
    if scalars.first == "-" { scalars.replaceSubrange(...scalars.startIndex, with: ["_"]) }
    var safe = String(scalars)
    var stem = safe.prefix { $0 != "." }.uppercased()
    while stem.last == " " { stem.removeLast() }
    if devices.contains(stem) { safe = "_\(safe)" }
    guard safe != name else { return name }
    let place = hasEnding ? safe.lastIndex(of: ".") ?? safe.endIndex : safe.endIndex
    let hyphen = safe[..<place].hasSuffix("-") ? "" : "-"
    return "\(safe[..<place])\(hyphen)\(hash(of: name))\(safe[place...])"
  }

  /// Characters that a file system refuses, or that end, begin or fill in a shell's command.
  private static let refused = Set("<>:\"/\\|?*;&$`'!".unicodeScalars)

  /// Names that Windows keeps for devices, with any ending.
  private static let devices: Set<String> = {
    let numbers = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"]
    let ports = ["COM", "LPT"].flatMap { port in numbers.map { port + $0 } }
    return Set(["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"] + ports)
  }()

  /// Eight hexadecimal digits of a name by FNV-1a; names that share them are told apart like any others.
  private static func hash(of name: String) -> String {
    let number = name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// What two paths have in common that a file system may take for one: case and composition
  /// aside.
  static func folded(_ path: String) -> String { path.uppercased().lowercased() }
}
