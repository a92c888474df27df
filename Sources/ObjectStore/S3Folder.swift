import Base
import Cache
import FoundationEssentials

/// A shard plan's folder in an object store; each machine copies the files that it needs.
///
/// One file, such as `plan.json`, is uploaded last and makes the folder complete; it is never replaced.
package struct S3Folder: Sendable {
  private let store: ObjectStore
  /// The path of this machine's copy.
  package let copy: String

  private static let type = "application/octet-stream"

  /// Makes the folder at the store's location; sends no request yet.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - copy: The path of this machine's copy, an existing folder.
  package init(_ store: ObjectStore, copy: String) {
    self.store = store
    self.copy = copy
  }

  /// The location, such as `s3://bucket/prefix`.
  package var name: String { "\(store.location)" }

  /// Requires that the store has no such folder yet, and that it supports conditional writes.
  ///
  /// - Parameter last: The name of the file that completes the folder.
  /// - Returns: Whether the store accepted only one of several simultaneous conditional writes in a test.
  /// - Throws: ``LarderError``.
  package func demandNew(_ last: String) throws(LarderError) -> Bool {
    guard try store.bytes(of: last) == nil else { throw taken }
    try store.demandConditions(trying: "\(last).probe")
    return try store.takesOneOfMany(trying: "\(last).probe")
  }

  private var taken: LarderError {
    LarderError(
      .objectExists,
      "cannot write a plan to \(name): it already has a plan; choose another prefix, or remove it"
    )
  }

  /// Uploads all files of the copy, but not those in its subfolders.
  ///
  /// - Parameter last: The name of the file that is uploaded last, and only if the store has no file of this name.
  /// - Throws: ``LarderError`` when the store refuses, or a file cannot be read.
  package func putAll(last: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: copy).sorted()
    let parts = PartUpload(store)
    for name in names where name != last {
      let data = try file(name)
      guard data.count > PartUpload.least else {
        try store.put([UInt8](data), to: name, type: Self.type)
        continue
      }
      let bytes = RemoteBytes(count: ByteCount(data.count)) { [UInt8](data[$0]) }
      _ = try parts.put(bytes, to: name, headers: ["Content-Type": Self.type])
    }
    guard try store.create([UInt8](file(last)), at: last, type: Self.type) else { throw taken }
  }

  /// Downloads files into the copy.
  ///
  /// - Parameter names: The names of the files.
  /// - Returns: The names that the store does not have.
  /// - Throws: ``LarderError`` when the store refuses, or a file cannot be written.
  @discardableResult
  package func fetch(_ names: [String]) throws -> [String] {
    let pictures = S3Pictures(store)
    var missing: [String] = []
    for name in names {
      let file = try RemoteCopy(of: name, in: pictures, to: "\(copy)/\(name)")
      if !file.isThere {
        file.remove()
        missing.append(name)
      }
    }
    return missing
  }

  /// Uploads a file of the copy unless the store has a file of this name; otherwise the copy gets the store's file.
  ///
  /// - Parameter name: The file's name.
  /// - Returns: Whether the store now has this machine's file; false if it had another one.
  /// - Throws: ``LarderError`` when the store refuses, or a file cannot be read or written.
  package func commit(_ name: String) throws -> Bool {
    if try store.create([UInt8](file(name)), at: name, type: Self.type) { return true }
    try fetch([name])
    return false
  }

  private func file(_ name: String) throws -> Data {
    // The file is mapped and not read, because a log of documents may be large.
    try Data(contentsOf: URL(filePath: "\(copy)/\(name)"), options: .alwaysMapped)
  }
}
