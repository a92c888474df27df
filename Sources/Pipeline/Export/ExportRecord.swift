import Catalog
import FoundationEssentials
import Transport

/// What exports wrote into a folder: the file `export.json` in it.
///
/// Only what stands here is ever removed, and only while it is as it was written.
struct ExportRecord: Codable, Equatable {
  /// One file.
  struct File: Codable, Equatable {
    /// Of which picture it is; nil for a file of the export's own.
    var url: String?
    /// Its size.
    var bytes: ByteCount?
    /// When it was last changed; nil while it is being written.
    var modified: Int64?
  }

  /// The name of the file.
  static let name = "export.json"

  /// The files by their paths in the folder.
  var files: [String: File] = [:]

  /// A record of nothing.
  init() {}

  /// Reads a record; nil when the text is none.
  ///
  /// A path that leads out of the folder is left out.
  init?(decoding bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(ExportRecord.self, from: Data(bytes)) else {
      return nil
    }
    files = record.files.filter { Self.isBelow($0.key) }
  }

  /// The record as text.
  var text: String { String(decoding: (try? jsonLine()) ?? [], as: UTF8.self) + "\n" }

  /// What an export no longer has: neither written by it nor of a picture that it wanted in vain.
  ///
  /// - Parameters:
  ///   - written: the paths of this export.
  ///   - missing: the URLs of pictures that catalogs name and the cache lacks.
  ///   - spared: the URLs of pictures whose squares stay: all that catalogs name, for an export
  ///     that was not asked for squares.
  /// - Returns: The paths that may go, in order.
  func outdated(written: Set<String>, missing: Set<String>, squaresOf spared: Set<String>)
    -> [String]
  {
    files.filter { path, file in
      let wanted = path.hasPrefix(ExportPlan.squares + "/") ? spared : missing
      return !written.contains(path) && !(file.url.map(wanted.contains) ?? false)
    }
    .keys.sorted()
  }

  /// Whether a path stays in the folder.
  private static func isBelow(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
      && !path.utf8.contains(0)
  }
}
