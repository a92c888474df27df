import Base
import CGlibc
import FoundationEssentials
import Glibc
import SystemPackage

/// A picture's bytes and the properties that were found in them.
///
///     let photo = try PictureFile("photo.jpg")
///     let square = try Crop(size: 512).apply(to: photo)
public struct PictureFile: Sendable {
  /// The name of the picture in errors.
  public let name: String
  /// The whole file.
  public let bytes: [UInt8]
  /// The properties found in the bytes.
  public let probe: PictureProbe
  /// When the file was last written, in seconds since 1970; nil if the bytes are not from a file.
  public let modified: Int?

  /// Makes a picture from bytes in memory.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the picture in errors.
  ///   - modified: When the picture was last written, in seconds since 1970.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the bytes are not a picture, are damaged, or exceed `limits`.
  public init(
    _ bytes: [UInt8],
    name: String = "the picture",
    modified: Int? = nil,
    limits: PictureLimits = PictureLimits()
  ) throws(LarderError) {
    self.name = name
    self.bytes = bytes
    self.modified = modified
    probe = try PictureProbe(bytes, name: name, limits: limits)
  }

  /// Reads a file.
  ///
  /// This function blocks.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when the file cannot be read, is not a picture, is damaged, or exceeds `limits`.
  public init(
    _ path: FilePath,
    limits: PictureLimits = PictureLimits()
  ) throws(LarderError) {
    let file = try Self.open(path)
    defer { close(file) }
    let (bytes, modified) = try Self.read(file, path.shown, limits)
    try self.init(bytes, name: path.shown, modified: modified, limits: limits)
  }

  /// Opens a file for reading.
  ///
  /// The caller must close the descriptor.
  static func open(_ path: FilePath) throws(LarderError) -> Int32 {
    let file = path.withPlatformString { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard file >= 0 else { throw .unread(path.shown, errno) }
    return file
  }

  /// Reads an open file, and finds out when it was last written.
  ///
  /// The file must be a regular file within the limits.
  static func read(
    _ file: Int32,
    _ name: String,
    _ limits: PictureLimits
  ) throws(LarderError) -> (bytes: [UInt8], modified: Int) {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unread(name, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LarderError(.unsupported, "cannot read \(name): it is not a file")
    }
    guard status.st_size <= limits.fileBytes else {
      throw .tooLarge(name, "it has more than \(limits.fileBytes) bytes")
    }
    do throws(SystemError) {
      let bytes = try Files.bytes(of: file, Int(status.st_size))
      return (bytes, Int(status.st_mtim.tv_sec))
    } catch {
      throw .unread(name, error.code)
    }
  }
}

/// The form in which the logo of a stamp is sent to a worker process: its name and its bytes.
extension PictureFile: Codable {
  private enum Key: CodingKey { case name, bytes }

  /// Decodes a picture, and finds its properties in its bytes again.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    let bytes = try object.decode(Data.self, forKey: .bytes)
    try self.init(Array(bytes), name: object.decode(String.self, forKey: .name))
  }

  /// Encodes a picture without the time at which its file was last written.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(name, forKey: .name)
    try object.encode(Data(bytes), forKey: .bytes)
  }
}

extension LarderError {
  /// The error for an input that cannot be read; `code` is the system's error number (errno).
  ///
  /// An error about the path, such as a missing file or a missing permission, does not have the code of a disk error.
  static func unread(_ name: String, _ code: Int32) -> LarderError {
    let isPath = [ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EISDIR].contains(code)
    return LarderError(
      isPath ? .unreadable : .disk,
      "cannot read \(name): \(systemMessage(code)); check the path"
    )
  }
}

/// The source of a picture: a file, or bytes in memory.
package enum PictureInput: Sendable {
  /// A file.
  case path(FilePath)
  /// Bytes in memory; `name` is the name of the picture in errors.
  case bytes([UInt8], name: String)

  /// The name of the picture in errors.
  package var name: String {
    switch self {
    case .path(let path): path.shown
    case .bytes(_, let name): name
    }
  }

  /// Reads the picture, in this process.
  ///
  /// - Parameter limits: The limits of the picture.
  /// - Returns: The picture's bytes and properties.
  /// - Throws: ``LarderError`` when it cannot be read.
  func file(_ limits: PictureLimits) throws(LarderError) -> PictureFile {
    switch self {
    case .path(let path): try PictureFile(path, limits: limits)
    case .bytes(let bytes, let name): try PictureFile(bytes, name: name, limits: limits)
    }
  }

  /// Reads the bytes of a file, without looking for a picture in them.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which is also the name of the picture in errors.
  ///   - limits: The limits of the picture.
  /// - Returns: The bytes of the file.
  /// - Throws: ``LarderError`` when the file cannot be read, or is too large.
  package static func bytes(
    of path: FilePath,
    _ limits: PictureLimits
  ) throws(LarderError) -> [UInt8] {
    let file = try PictureFile.open(path)
    defer { close(file) }
    return try PictureFile.read(file, path.shown, limits).bytes
  }

  /// Opens the picture, for another process to read.
  ///
  /// The caller must close the descriptor.
  func opened() throws(LarderError) -> Int32 {
    switch self {
    case .path(let path): return try PictureFile.open(path)
    case .bytes(let bytes, let name):
      let file = bytes.withUnsafeBytes { larder_readable($0.baseAddress, $0.count) }
      guard file >= 0 else {
        throw LarderError(.worker, "cannot process \(name): \(systemMessage(errno))")
      }
      return file
    }
  }
}
