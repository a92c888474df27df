import Cache

/// Where each picture goes in an exported folder.
public struct ExportPlan: Sendable, Equatable {
  /// How the folder is laid out.
  public enum Shape: String, Sendable {
    /// As the origins have it, so that a web server can stand in for them: `host/path/name.jpg`.
    case tree
    /// All in one folder under their plain file names.
    case flat
  }

  /// A picture that is held.
  public struct Picture: Sendable, Equatable {
    /// Its URL.
    public var url: String
    /// What its bytes are: equal ones may share a name.
    public var sha256: String

    /// A picture from its parts.
    public init(url: String, sha256: String) {
      self.url = url
      self.sha256 = sha256
    }
  }

  /// A picture whose own name was taken by another.
  public struct Collision: Sendable, Equatable, Codable {
    /// Its URL.
    public var url: String
    /// The path that it would have had.
    public var wanted: String
    /// The path that it has.
    public var path: String
  }

  /// The path of each picture by its URL, relative to the folder.
  public private(set) var paths: [String: String] = [:]
  /// Who got another name, in the order of the pictures.
  public private(set) var collisions: [Collision] = []

  /// Gives every picture a path: whoever comes first keeps its own name.
  public init(_ pictures: [Picture], shape: Shape) {
    var holders: [String: String] = [:]
    var folders: Set<String> = []
    for picture in pictures where paths[picture.url] == nil {
      let name = PictureName(url: picture.url, id: PictureID(url: picture.url)).file
      let place = ExportPath(url: picture.url, shape: shape)
      let wanted = place.path ?? name
      // A name of another's bytes, of a folder, or below another's file.
      func isTaken(_ path: String) -> Bool {
        if let holder = holders[path] { return holder != picture.sha256 }
        return folders.contains(path)
          || ExportPath.parents(of: path).contains { holders[$0] != nil }
      }
      var path = wanted
      if isTaken(path) { path = place.folder.isEmpty ? name : "\(place.folder)/\(name)" }
      if isTaken(path) { path = "_larder/\(name)" }
      holders[path] = picture.sha256
      folders.formUnion(ExportPath.parents(of: path))
      paths[picture.url] = path
      if path != wanted {
        collisions.append(Collision(url: picture.url, wanted: wanted, path: path))
      }
    }
  }
}

/// The path that a URL names below an exported folder.
struct ExportPath: Equatable {
  /// The folder, without a slash at either end; empty for the exported folder itself.
  let folder: String
  /// Folder and name; nil when the URL names no file.
  let path: String?

  /// Reads a URL as it is sent: `scheme://host:port/path?query`.
  ///
  /// Segments are decoded, as a web server decodes them before it looks for a file. What would lead
  /// elsewhere decoded, or is no text, stays as it is sent.
  init(url: String, shape: ExportPlan.Shape) {
    let rest = url.prefix { $0 != "?" && $0 != "#" }
    let start = rest.range(of: "://")?.upperBound ?? rest.startIndex
    var segments = rest[start...].split(separator: "/", omittingEmptySubsequences: false)
      .map { Self.decoded(String($0)) }
    let host = segments.isEmpty ? "" : segments.removeFirst()
    let name = segments.popLast() ?? ""
    segments.removeAll(where: \.isEmpty)
    switch shape {
    case .flat: folder = ""
    case .tree: folder = ([host] + segments).joined(separator: "/")
    }
    let isShort = segments.allSatisfy { $0.utf8.count <= 255 } && name.utf8.count <= 240
    path = name.isEmpty || !isShort ? nil : folder.isEmpty ? name : "\(folder)/\(name)"
  }

  /// The folders above a path, from the top.
  static func parents(of path: String) -> [String] {
    var parents: [String] = []
    for part in path.split(separator: "/").dropLast() {
      parents.append(parents.last.map { "\($0)/\(part)" } ?? String(part))
    }
    return parents
  }

  private static func decoded(_ segment: String) -> String {
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
    let isPlain = !bytes.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
    guard isPlain, let text = String(validating: bytes, as: UTF8.self) else { return segment }
    // A name that begins with a dot is hidden, or leads elsewhere.
    if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
    return text
  }
}
