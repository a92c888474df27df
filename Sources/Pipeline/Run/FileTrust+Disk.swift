import Catalog
import Glibc

extension FileTrust {
  /// Judges a file on disk for the user of this process.
  ///
  /// - Parameter path: The file, which may be a link.
  /// - Returns: The first doubt; nil when the file is trusted, or is not there.
  package static func doubt(ofFile path: String) -> Doubt? {
    guard let file = entry(path), let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    let folders = [path, String(cString: real)].compactMap { entry(folder(of: $0)) }
    return doubt(of: file, in: folders, for: geteuid())
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func entry(_ path: String) -> Entry? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Entry(owner: status.st_uid, mode: status.st_mode)
  }
}

extension CatalogFile {
  /// Refuses a file that names a command for new tokens and that others than root and this process's user may change.
  ///
  /// - Parameter path: Where the file was read from.
  /// - Throws: ``CatalogError`` with the file, the reason and a remedy.
  package func demandTrust(ofFile path: String) throws(CatalogError) {
    guard token != nil, let doubt = FileTrust.doubt(ofFile: path) else { return }
    throw CatalogError(
      .catalogFile,
      subject: "catalog file \(path)",
      file: path,
      keyPath: "token.command",
      reason: "it names a command to run, and \(doubt.reason)",
      remedy: doubt.remedy(path)
    )
  }
}
