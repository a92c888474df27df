import CGlibc
import Glibc
import SystemPackage

/// Where the bytes of a picture are.
package enum PictureInput: Sendable {
  /// In a file.
  case path(FilePath)
  /// In memory; `name` is what errors call the picture.
  case bytes([UInt8], name: String)

  /// What errors call the picture.
  package var name: String {
    switch self {
    case .path(let path): path.shown
    case .bytes(_, let name): name
    }
  }

  /// Reads the picture in this process.
  ///
  /// - Parameter limits: What the picture may ask for.
  /// - Returns: Its bytes, and what they say.
  /// - Throws: ``ImagingError`` when it cannot be read.
  func file(_ limits: PictureLimits) throws(ImagingError) -> PictureFile {
    switch self {
    case .path(let path): try PictureFile(path, limits: limits)
    case .bytes(let bytes, let name): try PictureFile(bytes, name: name, limits: limits)
    }
  }

  /// Reads a file, and nothing of what its bytes say.
  ///
  /// - Parameters:
  ///   - path: The file, which errors call the picture.
  ///   - limits: What the picture may ask for.
  /// - Returns: Its bytes.
  /// - Throws: ``ImagingError`` when the file cannot be read, or is too large.
  package static func bytes(
    of path: FilePath,
    _ limits: PictureLimits
  ) throws(ImagingError) -> [UInt8] {
    let file = try PictureFile.open(path)
    defer { close(file) }
    return try PictureFile.read(file, path.shown, limits).bytes
  }

  /// Opens the picture for another process to read; the caller closes the descriptor.
  func opened() throws(ImagingError) -> Int32 {
    switch self {
    case .path(let path): return try PictureFile.open(path)
    case .bytes(let bytes, let name):
      let file = bytes.withUnsafeBytes { larder_readable($0.baseAddress, $0.count) }
      guard file >= 0 else {
        throw ImagingError(.worker, "cannot work on \(name): \(ImagingError.words(for: errno))")
      }
      return file
    }
  }
}
