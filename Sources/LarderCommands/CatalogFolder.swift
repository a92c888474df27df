import Foundation

/// The catalog files that a path on the command line means: itself, or those in a folder.
enum CatalogFolder {
  /// The files, those of a folder by name.
  ///
  /// - Throws: ``CommandFailure`` when a folder holds none.
  static func files(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { return [path] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let catalogs = names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted()
    guard !catalogs.isEmpty else {
      throw CommandFailure(
        "cannot find any catalog in \(path): there is no .yaml file; put one there",
        .usage
      )
    }
    return catalogs.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
  }
}
