import Cache

/// Where each picture goes in an exported folder.
package struct ExportPlan: Sendable, Equatable {
  /// How the folder is laid out.
  package enum Shape: String, Sendable {
    /// As the origins have it, so that a web server can stand in for them: `host/path/name.jpg`.
    case tree
    /// All in one folder under their plain file names.
    case flat
  }

  /// A picture that is held.
  package struct Picture: Sendable, Equatable {
    /// Its URL.
    package var url: String
    /// What its bytes are: equal ones may share a name.
    package var sha256: String
    /// What its first bytes say it is; nil leaves its name as it is.
    package var type: PictureType?

    /// A picture from its parts.
    package init(url: String, sha256: String, type: PictureType? = nil) {
      self.url = url
      self.sha256 = sha256
      self.type = type
    }
  }

  /// A picture whose own name was taken by another.
  package struct Collision: Sendable, Equatable, Codable {
    /// Its URL.
    package var url: String
    /// The path that it would have had.
    package var wanted: String
    /// The path that it has.
    package var path: String
  }

  /// The path of each picture by its URL, relative to the folder.
  package private(set) var paths: [String: String] = [:]
  /// The pictures that got another name, in their order.
  package private(set) var collisions: [Collision] = []

  /// Gives every picture a path; of several with one name, the first keeps it.
  ///
  /// Names that differ in case or composition alone are one, since some file systems take them for
  /// one.
  package init(_ pictures: [Picture], shape: Shape) {
    var holders: [String: (path: String, sha256: String)] = [:]
    var folders: Set<String> = [Self.squares]
    for picture in pictures where paths[picture.url] == nil {
      let id = PictureID(url: picture.url)
      var name = PictureName(url: picture.url, id: id).file
      if let type = picture.type { name = ExportName.fitting(name, type) }
      name = ExportName.portable(name, hasEnding: true)
      let place = ExportPath(url: picture.url, shape: shape)
      let wanted = place.path(of: picture.type) ?? name
      // A name of another's bytes, of a folder, or below another's file.
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

  /// The folder of squares, by their size: no picture's.
  static let squares = "squares"
}

/// The path that a URL names below an exported folder.
struct ExportPath: Equatable {
  /// The folder, without a slash at either end; empty for the exported folder itself.
  let folder: String
  /// Folder and name; nil when the URL names no file.
  let path: String?

  /// The last segment; empty when the URL names no file.
  private let name: String
  private let isShort: Bool

  /// Reads a URL as it is sent: `scheme://host:port/path?query`; see ``ExportName/decoded(_:)``.
  init(url: String, shape: ExportPlan.Shape) {
    let rest = url.prefix { $0 != "?" && $0 != "#" }
    let start = rest.range(of: "://")?.upperBound ?? rest.startIndex
    var segments = rest[start...].split(separator: "/", omittingEmptySubsequences: false)
      .map { ExportName.decoded(String($0)) }
    // A port's colon alone asks for no hash: hosts that meet in one folder harm nothing.
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
    // Below a path that is as long as a system takes there is no room for a folder of the user's.
    isShort =
      folder.utf8.count <= Self.longestFolder
      && folder.split(separator: "/").allSatisfy { $0.utf8.count <= ExportName.longest }
    self.folder = isShort ? folder : ""
    path = Self.joined(
      self.folder,
      isShort && name.utf8.count <= Self.longestName
        ? ExportName.portable(name, hasEnding: true) : ""
    )
  }

  /// The path of a picture, with the extension of its type; nil when the URL names no file, or its name is too long.
  func path(of type: PictureType?) -> String? {
    guard let type else { return path }
    guard isShort, !name.isEmpty else { return nil }
    let fitting = ExportName.fitting(name, type)
    guard fitting.utf8.count <= Self.longestName else { return nil }
    return Self.joined(folder, ExportName.portable(fitting, hasEnding: true))
  }

  private static func joined(_ folder: String, _ name: String) -> String? {
    name.isEmpty ? nil : folder.isEmpty ? name : "\(folder)/\(name)"
  }

  /// The longest name of a picture, in bytes: room is left for what an ending adds.
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
