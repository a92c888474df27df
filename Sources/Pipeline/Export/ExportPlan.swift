import Base
import Cache
import Catalog

/// The path of each picture in an exported folder.
package struct ExportPlan: Sendable, Equatable {
  /// A picture in the cache.
  package struct Picture: Sendable, Equatable {
    /// The picture's URL.
    package var url: String
    /// The SHA-256 of its bytes.
    ///
    /// Pictures with equal bytes can share a path.
    package var sha256: String
    /// The picture's type, by its first bytes.
    package var type: PictureType
  }

  /// The path of each picture in the folder, by the picture's URL.
  package private(set) var paths: [String: String] = [:]

  /// Gives every picture a path.
  ///
  /// If several pictures have the same name, the first one keeps it.
  ///
  /// Names that differ only in case or in Unicode normalization count as the same, because some file systems do not
  /// distinguish them.
  ///
  /// - Parameters:
  ///   - pictures: The pictures.
  ///   - isFlat: Whether all pictures are in one folder, with the file names in their URLs, for example `1.jpg`. If
  ///     false, there are folders like those in the URLs, for example `cdn.example/images/1.jpg`, so that a web server
  ///     can serve the pictures instead of the shop.
  package init(_ pictures: [Picture], isFlat: Bool) {
    var holders: [String: (path: String, sha256: String)] = [:]
    var folders: Set<String> = [Self.squares]
    for picture in pictures where paths[picture.url] == nil {
      let id = PictureID(url: picture.url)
      let file = ExportName.fitting(PictureName(url: picture.url, id: id).file, picture.type)
      let name = ExportName.portable(file, hasEnding: true)
      let place = ExportPath(url: picture.url, isFlat: isFlat)
      // Whether a path cannot be used, because it belongs to other bytes or is a folder, or because a folder above it
      // is a file.
      func isTaken(_ path: String) -> Bool {
        let square = holders[ExportName.folded(Self.square(of: path, picture.type))]
        if let square, square.sha256 != picture.sha256 { return true }
        if let holder = holders[ExportName.folded(path)] { return holder.sha256 != picture.sha256 }
        let parents = ExportPath.parents(of: path).map(ExportName.folded)
        return folders.contains(ExportName.folded(path))
          || parents.contains { holders[$0] != nil } || parents.first == Self.squares
      }
      var path = place.path(of: picture.type) ?? name
      if isTaken(path) { path = place.folder.isEmpty ? name : "\(place.folder)/\(name)" }
      if isTaken(path) { path = "_larder/\(name)" }
      path = holders[ExportName.folded(path)]?.path ?? path
      for name in [Self.square(of: path, picture.type), path] {
        holders[ExportName.folded(name)] = (name, picture.sha256)
      }
      folders.formUnion(ExportPath.parents(of: path).map(ExportName.folded))
      paths[picture.url] = path
    }
  }

  /// The path of a picture's square below a folder such as `squares/512/`.
  ///
  /// The square of a GIF is a PNG. No other picture has this path, because its square would have it too.
  static func square(of path: String, _ type: PictureType) -> String {
    type == .gif ? "\(path).png" : path
  }

  /// The name of the folder for squares.
  ///
  /// No picture is in this folder.
  static let squares = "squares"
}

/// The path in an exported folder that a picture's URL yields.
struct ExportPath: Equatable {
  /// The folder of the picture, without a slash at either end.
  ///
  /// It is empty for the exported folder itself.
  let folder: String
  /// The last segment of the URL's path; empty if the URL names no file.
  private let name: String
  private let isShort: Bool

  /// Reads a URL, such as `https://cdn.example:8443/images/1.jpg?w=2`.
  init(url: String, isFlat: Bool) {
    let rest = url.prefix { $0 != "?" && $0 != "#" }
    let start = rest.range(of: "://")?.upperBound ?? rest.startIndex
    var segments = rest[start...].split(separator: "/", omittingEmptySubsequences: false)
      .map { ExportName.decoded(String($0)) }
    // The colon before a port is replaced here, so that ``ExportName/portable(_:hasEnding:)`` adds no hash. It does no
    // harm if two hosts share a folder.
    let host = (segments.isEmpty ? "" : segments.removeFirst()).replacing(":", with: "-")
    name = segments.popLast() ?? ""
    segments.removeAll(where: \.isEmpty)
    let folders = isFlat ? [] : [host] + segments
    let folder = folders.map { ExportName.portable($0, hasEnding: false) }.joined(separator: "/")
    // The limit is below that of the system, because the path of the exported folder precedes this path.
    isShort =
      folder.utf8.count <= Self.longestFolder
      && folder.split(separator: "/").allSatisfy { $0.utf8.count <= ExportName.longest }
    self.folder = isShort ? folder : ""
  }

  /// The path of the picture, with the file extension of its type; nil if the URL names no file, or its name is too
  /// long.
  func path(of type: PictureType) -> String? {
    guard isShort, !name.isEmpty else { return nil }
    let fitting = ExportName.fitting(name, type)
    guard fitting.utf8.count <= Self.longestName else { return nil }
    let portable = ExportName.portable(fitting, hasEnding: true)
    return folder.isEmpty ? portable : "\(folder)/\(portable)"
  }

  /// The length in bytes of the longest name of a picture.
  ///
  /// It leaves space for characters that are added to the name.
  private static let longestName = 240
  /// The length in bytes of the longest path of a folder.
  private static let longestFolder = 2048

  /// The folders above a path, from the top: `a` and `a/b` for `a/b/c.jpg`.
  static func parents(of path: String) -> [String] {
    var parents: [String] = []
    for part in path.split(separator: "/").dropLast() {
      parents.append(parents.last.map { "\($0)/\(part)" } ?? String(part))
    }
    return parents
  }
}

/// Makes safe names for exported files.
///
/// A web server does not execute files with such names, and does not hide them.
enum ExportName {
  /// The length in bytes of the longest name that every file system accepts.
  static let longest = 255

  /// The file extensions of all picture types.
  private static let pictures = Set(
    PictureType.allCases.filter(\.isShown).flatMap(\.fileExtensions)
  )

  /// The name of a picture with the file extension of its type.
  ///
  /// If the name has the right extension, it is kept. Otherwise the right one is appended. For example, `x.png` becomes
  /// `x.png.gif` if it is a GIF. Some servers act on every extension in a name. Dots before text that could be such an
  /// extension therefore become hyphens: `x.php.gif` becomes `x-php.gif`. (Apache, mod_mime, "Files with Multiple
  /// Extensions")
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

  /// Whether a server could take the text after a dot for a file extension.
  ///
  /// Such text has at most 12 letters and digits, and begins with a letter. The extensions of pictures do not count.
  private static func isEnding(_ part: String) -> Bool {
    guard part.utf8.count <= 12, let first = part.utf8.first, !(0x30...0x39).contains(first) else {
      return false
    }
    return !pictures.contains(part.lowercased())
      && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
  }

  /// Makes a name of a segment of a URL's path.
  ///
  /// The segment is percent-decoded, because a web server does the same before it looks for a file. If the result would
  /// have slashes, control characters, changes of text direction or invalid UTF-8, the segment stays encoded. A leading
  /// dot, which would hide the file, is encoded.
  static func decoded(_ segment: String) -> String {
    let bytes = PercentEncoding.decoded(segment.utf8)
    let leads = bytes.contains(UInt8(ascii: "/")) || bytes.contains(UInt8(ascii: "\\"))
    guard !leads, let text = String(validating: bytes, as: UTF8.self), PlainText.isPlain(text),
      text.first?.isWhitespace != true, text.last?.isWhitespace != true
    else { return shown(segment.replacing("\\", with: "%5C")) }
    return shown(text)
  }

  /// Encodes the leading dot of a name.
  ///
  /// In `..`, both dots are encoded.
  private static func shown(_ segment: String) -> String {
    guard segment.hasPrefix(".") else { return segment }
    if segment == ".." { return "%2E%2E" }
    return "%2E" + segment.dropFirst()
  }

  /// Replaces characters that FAT, exFAT, NTFS or SMB refuse, and characters that have a meaning in a shell.
  ///
  /// Each of these characters becomes `-`, and so does a dot or space at the end. A `-` at the beginning, which a
  /// program would take for an option, becomes `_`. A name that Windows reserves for a device gets the prefix `_`.
  ///
  /// A changed name also gets eight digits of a hash of the original name, so that two changed names are hardly ever
  /// equal. For example, `16:9.png` becomes `16-9-1a2b3c4d.png`. (Microsoft, "Naming Files, Paths, and Namespaces";
  /// exFAT specification, section 7.7.3)
  ///
  /// - Parameters:
  ///   - name: The name, which has no slash.
  ///   - hasEnding: Whether the text after its last dot is an extension, which stays at the end.
  /// - Returns: The new name. It is at most ten bytes longer than the given one.
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

  /// The FNV-1a hash of a name, in eight hexadecimal digits.
  ///
  /// If two names have the same hash, the plan resolves the clash.
  private static func hash(of name: String) -> String {
    let number = name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// A form of the path that is equal for two paths if some file systems do not distinguish them.
  ///
  /// Case is removed here. Unicode normalization needs no step, because Swift compares strings by canonical
  /// equivalence.
  static func folded(_ path: String) -> String { path.uppercased().lowercased() }
}
