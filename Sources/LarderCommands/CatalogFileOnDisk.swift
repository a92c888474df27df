import Catalog
import Foundation
import SystemPackage

/// A catalog file read from disk, with the folder that its local paths are relative to.
struct CatalogFileOnDisk: Sendable {
  let catalog: CatalogFile
  let folder: String
  /// The file's text.
  let bytes: [UInt8]
  /// Where `${NAME}` in it comes from.
  let environment: [String: String]

  /// A file that was read before, as part of a plan.
  init(_ catalog: CatalogFile, folder: String, environment: [String: String]) {
    self.catalog = catalog
    self.folder = folder
    self.environment = environment
    bytes = []
  }

  /// Reads and checks the file at `path`.
  init(_ path: String) throws {
    if path.contains("://") {
      throw CommandFailure(
        "cannot read catalog file \(path): it is a URL, not a file; larder catalog init "
          + "\(path) writes a file for it",
        .usage
      )
    }
    let bytes = try FileReading.bytes(path, what: "catalog file", limit: 1 << 20)
    if let kind = Self.mistaken(bytes) {
      throw CommandFailure(
        "cannot read catalog file \(path): it is \(kind), not YAML or JSON; "
          + "larder catalog init writes a file from what a shop sends",
        .configuration
      )
    }
    catalog = try CatalogFile(parsing: bytes, file: path)
    try catalog.demandTrust(ofFile: path)
    self.bytes = bytes
    folder = FilePath(path).removingLastComponent().string
    environment = ProcessInfo.processInfo.environment
  }

  /// What a file is that was taken for a catalog file; nil when it may be one.
  private static func mistaken(_ bytes: [UInt8]) -> String? {
    if bytes.prefix(1024).contains(0) { return "binary data" }
    let first = bytes.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    return first == UInt8(ascii: "<") ? "a page or XML" : nil
  }
}
