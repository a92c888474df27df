import Base
import Cache
import Catalog

/// The path of each picture in an exported folder.
package struct ExportPlan: Sendable, Equatable {
  /// The layout of the folder.
  package enum Shape: String, Sendable {
    /// The origins' hosts and paths, for example `host/path/name.jpg`, so that a web server can replace the origins.
    case tree
    /// All pictures in one folder, by their file names.
    case flat
  }

  /// A picture in the cache.
  package struct Picture: Sendable, Equatable {
    /// The picture's URL.
    package var url: String
    /// The SHA-256 of its bytes; equal pictures may share a path.
    package var sha256: String
    /// The picture's type, by its first bytes.
    package var type: PictureType

    /// A picture from its parts.
    package init(url: String, sha256: String, type: PictureType) {
      self.url = url
      self.sha256 = sha256
      self.type = type
    }
  }

  /// A picture that cannot have its own name, because another picture has it.
  package struct Collision: Sendable, Hashable, Codable {
    /// The picture's URL.
    package var url: String
    /// The path that the picture would have had.
    package var wanted: String
    /// The path that the picture has.
    package var path: String
  }

  /// The path of each picture by its URL, relative to the folder.
  package private(set) var paths: [String: String] = [:]
  /// The pictures that got another name, in the order of the pictures.
  package private(set) var collisions: [Collision] = []

  /// Gives every picture a path; if several have the same name, the first keeps it.
  ///
  /// Names that differ only in case or Unicode normalization count as the same, because some file systems treat them
  /// so.
  package init(_ pictures: [Picture], shape: Shape) {
    var holders: [String: (path: String, sha256: String)] = [:]
    var folders: Set<String> = [Self.squares]
    for picture in pictures where paths[picture.url] == nil {
      let id = PictureID(url: picture.url)
      let file = ExportName.fitting(PictureName(url: picture.url, id: id).file, picture.type)
      let name = ExportName.portable(file, hasEnding: true)
      let place = ExportPath(url: picture.url, shape: shape)
      let wanted = place.path(of: picture.type) ?? name
      // Whether the path belongs to other bytes, is a folder, or has a parent that is a file.
      func isTaken(_ path: String) -> Bool {
        if let holder = holders[ExportName.folded(path)] { return holder.sha256 != picture.sha256 }
        let parents = ExportPath.parents(of: path).map(ExportName.folded)
        return folders.contains(ExportName.folded(path))
          || parents.contains { holders[$0] != nil } || parents.first == Self.squares
      }
      var path = wanted
      if isTaken(path) { path = place.folder.isEmpty ? name : "\(place.folder)/\(name)" }
      if isTaken(path) { path = "_larder/\(name)" }
      path = holders[ExportName.folded(path)]?.path ?? path
      holders[ExportName.folded(path)] = (path, picture.sha256)
      folders.formUnion(ExportPath.parents(of: path).map(ExportName.folded))
      paths[picture.url] = path
      if path != wanted {
        collisions.append(Collision(url: picture.url, wanted: wanted, path: path))
      }
    }
  }

  /// The name of the folder for squares; no picture's path begins with it.
  static let squares = "squares"
}

/// The path below an exported folder for a picture's URL.
struct ExportPath: Equatable {
  /// The parent folder, without a slash at either end; empty for the exported folder itself.
  let folder: String
  /// The last segment; empty when the URL names no file.
  private let name: String
  private let isShort: Bool

  /// Reads a URL as it is sent: `scheme://host:port/path?query`; see ``ExportName/decoded(_:)``.
  init(url: String, shape: ExportPlan.Shape) {
    let rest = url.prefix { $0 != "?" && $0 != "#" }
    let start = rest.range(of: "://")?.upperBound ?? rest.startIndex
    var segments = rest[start...].split(separator: "/", omittingEmptySubsequences: false)
      .map { ExportName.decoded(String($0)) }
    // The colon before a port is replaced here, so that ``ExportName/portable(_:hasEnding:)`` adds no hash. Two hosts
    // may share a folder.
    let host = (segments.isEmpty ? "" : segments.removeFirst()).replacing(":", with: "-")
    name = segments.popLast() ?? ""
    segments.removeAll(where: \.isEmpty)
    let folder =
      switch shape {
      case .flat: ""
      case .tree:
        ([host] + segments).map { ExportName.portable($0, hasEnding: false) }
          .joined(separator: "/")
      }
    // The limit is below the system's, so that the path of the exported folder can precede this path.
    isShort =
      folder.utf8.count <= Self.longestFolder
      && folder.split(separator: "/").allSatisfy { $0.utf8.count <= ExportName.longest }
    self.folder = isShort ? folder : ""
  }

  /// The path of a picture, with the extension of its type; nil when the URL names no file, or its name is too long.
  func path(of type: PictureType) -> String? {
    guard isShort, !name.isEmpty else { return nil }
    let fitting = ExportName.fitting(name, type)
    guard fitting.utf8.count <= Self.longestName else { return nil }
    let portable = ExportName.portable(fitting, hasEnding: true)
    return folder.isEmpty ? portable : "\(folder)/\(portable)"
  }

  /// The longest name of a picture, in bytes, with space for an added extension.
  private static let longestName = 240
  /// The longest folder, in bytes.
  private static let longestFolder = 2048

  /// The folders above a path, from the top.
  static func parents(of path: String) -> [String] {
    var parents: [String] = []
    for part in path.split(separator: "/").dropLast() {
      parents.append(parents.last.map { "\($0)/\(part)" } ?? String(part))
    }
    return parents
  }
}

/// Makes safe names for exported files: no web server executes, hides or misinterprets them.
enum ExportName {
  /// The longest name that every file system takes, in bytes.
  static let longest = 255

  /// The extensions of all picture types.
  private static let pictures = Set(
    PictureType.allCases.filter(\.isShown).flatMap(\.fileExtensions)
  )

  /// The name of a picture with the extension of its type.
  ///
  /// A correct extension is kept; otherwise the right one is appended: `x.png` that is a GIF becomes `x.png.gif`. Other
  /// dots that a server could read as extensions become hyphens, because some servers act on any extension in a name:
  /// `x.html` and `x.php.gif` become `x-html.gif` and `x-php.gif`. (Apache, mod_mime, "Files with Multiple Extensions")
  static func fitting(_ name: String, _ type: PictureType) -> String {
    var parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let endings = type.fileExtensions
    var ending = endings[0]
    if parts.count > 1, let last = parts.last, endings.contains(last.lowercased()) {
      ending = last
      parts.removeLast()
    }
    let stem = parts.dropFirst().reduce(parts.first ?? "") { $0 + (isEnding($1) ? "-" : ".") + $1 }
    return "\(stem).\(ending)"
  }

  /// Whether a server may take the text after a dot for an extension.
  ///
  /// That is up to 12 letters and digits, not beginning with a digit, and not the extension of a picture.
  private static func isEnding(_ part: String) -> Bool {
    guard part.utf8.count <= 12, let first = part.utf8.first, !(0x30...0x39).contains(first) else {
      return false
    }
    return !pictures.contains(part.lowercased())
      && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
  }

  /// A segment of a URL as a name below the folder.
  ///
  /// It is percent-decoded, as by a web server that looks for a file. It stays encoded if the result would have
  /// slashes, control characters, changes of text direction, or invalid UTF-8. A leading dot, which would hide the
  /// file, is encoded.
  static func decoded(_ segment: String) -> String {
    let bytes = PercentEncoding.decoded(segment.utf8)
    let leads = bytes.contains(UInt8(ascii: "/")) || bytes.contains(UInt8(ascii: "\\"))
    guard !leads, let text = String(validating: bytes, as: UTF8.self), PlainText.isPlain(text),
      text.first?.isWhitespace != true, text.last?.isWhitespace != true
    else { return shown(segment.replacing("\\", with: "%5C")) }
    return shown(text)
  }

  /// The segment with its leading dot encoded; both dots in the case of `..`.
  private static func shown(_ segment: String) -> String {
    guard segment.hasPrefix(".") else { return segment }
    if segment == ".." { return "%2E%2E" }
    return "%2E" + segment.dropFirst()
  }

  /// The name in characters that FAT, exFAT, NTFS and SMB accept, and that have no meaning in a shell.
  ///
  /// Any other character becomes `-`, as does a dot or space at the end. A `-` at the beginning, which a program would
  /// read as an option, becomes `_`. A name that Windows reserves for a device is prefixed with `_`. A changed name
  /// also gets eight digits of the original's hash, so that it does not depend on other names: `16:9.png` becomes
  /// `16-9-HASH.png`. (Microsoft, "Naming Files, Paths, and Namespaces"; exFAT specification, section 7.7.3)
  ///
  /// - Parameters:
  ///   - name: A name without a slash.
  ///   - hasEnding: Whether the text after its last dot is an extension, which stays at the end.
  /// - Returns: The name, which is at most ten bytes longer than the given one.
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

  /// Characters that a file system refuses, or that have a meaning in a shell.
  private static let refused = Set("<>:\"/\\|?*;&$`'!".unicodeScalars)

  /// Names that Windows reserves for devices, with any extension.
  private static let devices: Set<String> = {
    let numbers = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"]
    let ports = ["COM", "LPT"].flatMap { port in numbers.map { port + $0 } }
    return Set(["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"] + ports)
  }()

  /// The FNV-1a hash of a name in eight hexadecimal digits; a collision is handled like any name clash.
  private static func hash(of name: String) -> String {
    let number = name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The case-folded form of a path, equal for paths that some file systems treat as equal.
  ///
  /// Unicode normalization does not count either, because Swift compares strings by canonical equivalence.
  static func folded(_ path: String) -> String { path.uppercased().lowercased() }
}
