import Catalog
import SystemPackage

/// A catalog file read from disk, with the folder that its local paths are relative to.
struct CatalogFileOnDisk: Sendable {
  let catalog: CatalogFile
  let folder: String

  /// Reads and checks the file at `path`.
  init(_ path: String) throws {
    let bytes = try FileReading.bytes(path, what: "catalog file", limit: 1 << 20)
    catalog = try CatalogFile(parsing: bytes, file: path)
    folder = FilePath(path).removingLastComponent().string
  }
}
