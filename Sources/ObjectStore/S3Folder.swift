import Base
import Cache
import FoundationEssentials

/// A small folder that many machines share through a store; each copies the files that it needs.
///
/// One file is put last, and completes the folder; it is put only if none exists.
package struct S3Folder: Sendable {
  private let store: ObjectStore
  /// The copy.
  package let copy: String

  private static let type = "application/octet-stream"

  /// A folder at the store's location.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - copy: The folder of this machine, which exists.
  package init(_ store: ObjectStore, copy: String) {
    self.store = store
    self.copy = copy
  }

  /// The location, as people write it.
  package var name: String { "\(store.location)" }

  /// Requires that the store has no such folder, and keeps a file only once.
  ///
  /// - Parameter last: The name of the file that completes the folder.
  /// - Returns: Whether the store also takes but one of many such files at one moment, as far as that shows.
  /// - Throws: ``LarderError``.
  package func demandNew(_ last: String) throws(LarderError) -> Bool {
    guard try store.bytes(of: last) == nil else { throw taken }
    try store.demandConditions(trying: "\(last).probe")
    return try store.takesOneOfMany(trying: "\(last).probe")
  }

  private var taken: LarderError {
    LarderError(
      .objectExists,
      "cannot write a plan to \(name): there is one; choose another prefix, or remove it"
    )
  }

  /// Puts all files of the copy, those that are in folders left out.
  ///
  /// - Parameter last: The file that is put last, and once.
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

  /// Fetches files into the copy.
  ///
  /// - Parameter names: Which.
  /// - Returns: Those that the store does not have.
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

  /// Puts a file of the copy unless the store has one of its name; else the copy gets that one.
  ///
  /// - Parameter name: The file.
  /// - Returns: Whether the store has this one.
  /// - Throws: ``LarderError`` when the store refuses, or a file cannot be read or written.
  package func commit(_ name: String) throws -> Bool {
    if try store.create([UInt8](file(name)), at: name, type: Self.type) { return true }
    try fetch([name])
    return false
  }

  private func file(_ name: String) throws -> Data {
    // Read where it is wanted: a log of documents may be large.
    try Data(contentsOf: URL(filePath: "\(copy)/\(name)"), options: .alwaysMapped)
  }
}
