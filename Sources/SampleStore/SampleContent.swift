import Glibc
import NIOCore
import Synchronization

/// The content of a sample store.
///
/// A path is looked up in memory, then in a folder, and then passed to a function that generates content.
///
/// The content can be changed while the store runs. One lock guards all state. It is not held while content is
/// generated or read from the disk.
package final class SampleContent: Sendable {
  /// Generates the resource for a path that is neither in memory nor in the folder; returns nil for status 404.
  ///
  /// It is called on the store's threads, once or twice for each GET or HEAD of such a path.
  package typealias Fallback = @Sendable (_ path: String) -> Resource?

  private struct Content {
    var resources: [String: Servable] = [:]
    var cacheRules: [(prefix: String, value: String)] = []
    var fallback: Fallback?
  }

  private let state: Mutex<Content>
  private let folder: Folder?

  /// Creates content with resources in memory, and with resources that `fallback` generates.
  package init(_ resources: [String: Resource] = [:], fallback: Fallback? = nil) {
    folder = nil
    state = Mutex(Content(fallback: fallback))
    for (path, resource) in resources { self[path] = resource }
  }

  /// Creates content with the files of a folder.
  ///
  /// A file is read at its first request, and again when it has changed. Resources in memory take precedence over
  /// files.
  ///
  /// - Parameters:
  ///   - folder: The folder that is served as `/`. Symbolic links that lead out of the folder are not followed.
  ///   - fallback: Generates resources that are neither in memory nor in the folder.
  /// - Throws: ``SampleError`` with code `folder` when the path is not a readable folder.
  package init(folder: String, fallback: Fallback? = nil) throws(SampleError) {
    self.folder = try Folder(folder)
    state = Mutex(Content(fallback: fallback))
  }

  /// The resource in memory at a decoded path; nil if there is none.
  ///
  /// Setting nil removes the resource.
  package subscript(_ path: String) -> Resource? {
    get { state.withLock { $0.resources[path]?.original } }
    set {
      state.withLock { state in
        state.resources[path] = newValue.map { Servable($0, rule: Self.rule(path, $0, state)) }
      }
    }
  }

  /// Generates resources that are neither in memory nor in the folder; nil if none are generated.
  package var fallback: Fallback? {
    get { state.withLock { $0.fallback } }
    set { state.withLock { $0.fallback = newValue } }
  }

  /// Sets `Cache-Control` for the paths that begin with a prefix.
  ///
  /// If several prefixes match a path, the longest counts. If none matches, pictures are fresh for an hour, and all
  /// other resources are stale at once.
  package func cache(_ prefix: String, as value: String) {
    state.withLock { state in
      state.cacheRules.removeAll { $0.prefix == prefix }
      state.cacheRules.append((prefix, value))
      state.cacheRules.sort { $0.prefix.utf8.count > $1.prefix.utf8.count }
      for (path, held) in state.resources {
        let rule = Self.rule(path, held.original, state)
        state.resources[path] = Servable(held.original, rule: rule)
      }
    }
    folder?.forget()
  }

  /// Finds the resource at a decoded path.
  ///
  /// If the path has no extension, the path with `.json` is also tried: after the path itself in memory, and before it
  /// in the folder.
  func find(_ path: String) -> Servable? {
    if let held = state.withLock({ $0.resources[path] }) { return held }
    let json = MediaType.fileExtension(of: path) == nil ? path + ".json" : nil
    if let json, let held = state.withLock({ $0.resources[json] }) { return held }
    if let folder {
      let held = json.flatMap { folder.find($0, servable: servable) }
      if let held = held ?? folder.find(path, servable: servable) { return held }
    }
    return fallback.flatMap { $0(path) }.map { servable(path, $0) }
  }

  func servable(_ path: String, _ resource: Resource) -> Servable {
    Servable(resource, rule: state.withLock { Self.rule(path, resource, $0) })
  }

  private static func rule(_ path: String, _ resource: Resource, _ state: Content) -> String {
    if let own = resource.cacheControl { return own }
    if let rule = state.cacheRules.first(where: { path.hasPrefix($0.prefix) }) {
      return rule.value
    }
    return resource.type.hasPrefix("image/") ? "max-age=3600" : "max-age=0"
  }
}

/// The files of a folder, which are kept in memory until they change on disk.
final class Folder: Sendable {
  /// Metadata of a file that shows whether the file has changed.
  private struct Stamp: Equatable {
    let device, inode: UInt
    let size, seconds, nanoseconds: Int

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
      device = info.st_dev
      inode = info.st_ino
      size = info.st_size
      seconds = info.st_mtim.tv_sec
      nanoseconds = info.st_mtim.tv_nsec
    }
  }

  private let root: String
  private let held = Mutex<[String: (stamp: Stamp, servable: Servable)]>([:])

  init(_ path: String) throws(SampleError) {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, let root = Self.real(path)
    else {
      throw SampleError(
        .folder,
        "serve \(path)",
        "it is not a readable folder",
        "name a folder"
      )
    }
    self.root = root == "/" ? "" : root
  }

  /// The file at a path that has no segments `.` and `..`; nil if there is none.
  ///
  /// The file is read again only if it has changed. A symbolic link that leads out of the folder counts as missing.
  func find(_ path: String, servable: (String, Resource) -> Servable) -> Servable? {
    guard let stamp = Stamp(root + path) else { return nil }
    if let held = held.withLock({ $0[path] }), held.stamp == stamp { return held.servable }
    guard let real = Self.real(root + path), real.hasPrefix(root + "/"),
      Stamp(real) == stamp, let bytes = Self.read(real)
    else { return nil }
    let type = MediaType.of(path: path)
    let made = servable(path, Resource(bytes, type: type, lastModified: stamp.seconds))
    held.withLock { $0[path] = (stamp, made) }
    return made
  }

  /// Forgets all files, because the rules for their header lines have changed.
  func forget() {
    held.withLock { $0.removeAll() }
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func read(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count == 0 { return bytes }
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }
}

/// A resource, with the rendered head of the answer with status 200.
struct Servable {
  /// The resource before the rules apply.
  let original: Resource
  /// The resource after the rules have set `Cache-Control`.
  let resource: Resource
  /// The status line and the header lines of the answer, without `Date` and without the empty line at the end.
  let head: ByteBuffer

  init(_ resource: Resource, rule: String) {
    original = resource
    var resource = resource
    resource.cacheControl = rule
    self.resource = resource
    self.head = Reply.whole(resource).rendered
  }
}
