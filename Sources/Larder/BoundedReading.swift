import SystemPackage

/// Reads what a user names, and no more of it than is of use.
package enum BoundedReading {
  /// A file's bytes, at most one more than `limit`, by which the caller knows that the file is larger.
  ///
  /// - Parameters:
  ///   - path: the file; of a pipe that nobody writes to, there is nothing.
  ///   - limit: how many bytes are enough.
  /// - Returns: The bytes.
  /// - Throws: `Errno` when it cannot be opened or read.
  package static func bytes(ofFile path: String, limit: Int) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    return try file.closeAfter { try bytes(of: file, limit: limit) }
  }

  /// What a descriptor gives until its end, one byte more than `limit` at most.
  ///
  /// - Parameters:
  ///   - file: what to read.
  ///   - limit: how many bytes are enough.
  /// - Returns: The bytes.
  /// - Throws: `Errno` when it cannot be read.
  package static func bytes(of file: FileDescriptor, limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    return bytes
  }
}
