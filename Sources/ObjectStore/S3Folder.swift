import Base
import Cache
import FoundationEssentials

/// The folder of a shard plan in an object store.
///
/// Each machine copies the files that it needs to a folder of its own.
///
/// One file, such as `plan.json`, makes the folder complete. It is uploaded last and never replaced.
package struct S3Folder: Sendable {
  private let store: ObjectStore
  /// The path of this machine's copy of the folder.
  package let copy: String

  private static let type = "application/octet-stream"

  /// Uses the folder at the location of the store.
  ///
  /// It sends no request yet.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - copy: The path of this machine's copy, which is a folder that exists.
  package init(_ store: ObjectStore, copy: String) {
    self.store = store
    self.copy = copy
  }

  /// The location of the folder, such as `s3://bucket/prefix`.
  package var name: String { "\(store.location)" }

  /// Requires that the store has no plan in this folder yet.
  ///
  /// - Parameter last: The name of the file that completes the folder.
  /// - Throws: ``LarderError``.
  package func demandNew(_ last: String) throws(LarderError) {
    guard try store.bytes(of: last) == nil else { throw taken }
  }

  private var taken: LarderError {
    LarderError(
      .objectExists,
      "cannot write a plan to \(name): it already has a plan; choose another prefix, or remove it"
    )
  }

  /// Uploads all files of the copy, except files in subfolders.
  ///
  /// - Parameter last: The name of the file that is uploaded last. The store must not have a file of this name yet.
  /// - Throws: ``LarderError`` when the store refuses a request, or a file cannot be read.
  package func putAll(last: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: copy).sorted()
    for name in names where name != last {
      try store.put([UInt8](file(name)), to: name, type: Self.type)
    }
    guard try store.create([UInt8](file(last)), at: last, type: Self.type) else { throw taken }
  }

  /// Downloads files of the folder into the copy.
  ///
  /// - Parameter names: The names of the files.
  /// - Returns: The names of the files that the store does not have.
  /// - Throws: ``LarderError`` when the store refuses a request, or a file cannot be written.
  @discardableResult
  package func fetch(_ names: [String]) throws -> [String] {
    var missing: [String] = []
    for name in names {
      guard let bytes = try store.bytes(of: name) else {
        missing.append(name)
        continue
      }
      let path = "\(copy)/\(name)"
      do throws(SystemError) {
        try Files.replace(path, with: bytes.span.bytes, isDurable: false)
      } catch {
        throw LarderError.system("write", path, errno: error.code, remedy: nil)
      }
    }
    return missing
  }

  /// Uploads a file of the copy, unless the store has a file of this name already.
  ///
  /// In that case, the store's file is downloaded into the copy.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: Whether the store now has this machine's file; false if it had another machine's file.
  /// - Throws: ``LarderError`` when the store refuses a request, or a file cannot be read or written.
  package func commit(_ name: String) throws -> Bool {
    if try store.create([UInt8](file(name)), at: name, type: Self.type) { return true }
    try fetch([name])
    return false
  }

  private func file(_ name: String) throws -> Data {
    // Map the file instead of reading it, because a log of documents may be large.
    try Data(contentsOf: URL(filePath: "\(copy)/\(name)"), options: .alwaysMapped)
  }
}
