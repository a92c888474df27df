import Base
import FoundationEssentials
import Glibc
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
  /// It is called on the store's threads, once for each GET or HEAD of such a path.
  package typealias Fallback = @Sendable (_ path: String) -> Resource?

  private let resources: Mutex<[String: Resource]>
  private let folder: Folder?
  private let fallback: Fallback?

  /// Creates content with resources in memory, and with resources that `fallback` generates.
  package init(_ resources: [String: Resource] = [:], fallback: Fallback? = nil) {
    folder = nil
    self.resources = Mutex(resources)
    self.fallback = fallback
  }

  /// Creates content with the files of a folder.
  ///
  /// A file is read at each request. Resources in memory take precedence over files.
  ///
  /// - Parameter folder: The folder that is served as `/`. Symbolic links that lead out of the folder are not followed.
  /// - Throws: ``LarderError`` when the path is not a readable folder.
  package init(folder: String) throws(LarderError) {
    self.folder = try Folder(folder)
    resources = Mutex([:])
    fallback = nil
  }

  /// The resource in memory at a decoded path; nil if there is none.
  ///
  /// Setting nil removes the resource.
  package subscript(_ path: String) -> Resource? {
    get { resources.withLock { $0[path] } }
    set { resources.withLock { $0[path] = newValue } }
  }

  /// Finds the resource at a decoded path.
  ///
  /// If the path has no extension, the path with `.json` is also tried: after the path itself in memory, and before it
  /// in the folder.
  func find(_ path: String) -> Resource? {
    let json = MediaType.fileExtension(of: path) == nil ? path + ".json" : nil
    let held = resources.withLock { resources in
      resources[path] ?? json.flatMap { resources[$0] }
    }
    return held ?? json.flatMap { folder?.find($0) } ?? folder?.find(path) ?? fallback?(path)
  }
}

/// The folder whose files a store serves.
private struct Folder: Sendable {
  private let root: String

  init(_ path: String) throws(LarderError) {
    // With "/." at its end, only the path of a folder can be resolved.
    guard let root = Self.real(path + "/.") else {
      throw LarderError(
        cannot: "serve \(path)",
        "it is not a readable folder",
        "name a folder"
      )
    }
    self.root = root == "/" ? "" : root
  }

  /// The file at a path that has no segments `.` and `..`; nil if there is none.
  ///
  /// A symbolic link that leads out of the folder counts as missing.
  func find(_ path: String) -> Resource? {
    var info = stat()
    guard let real = Self.real(root + path), real.hasPrefix(root + "/"), stat(real, &info) == 0,
      info.st_mode & S_IFMT == S_IFREG, let data = try? Data(contentsOf: URL(filePath: real))
    else { return nil }
    return Resource(
      [UInt8](data),
      type: MediaType.of(path: path),
      lastModified: info.st_mtim.tv_sec
    )
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
