import CGlibc
import Glibc
import SystemPackage

/// A picture's bytes, with what they say about it.
///
///     let photo = try PictureFile("photo.jpg")
///     let square = try Crop(size: 512).apply(to: photo)
public struct PictureFile: Sendable {
  /// What errors call the picture.
  public let name: String
  /// The whole file.
  public let bytes: [UInt8]
  /// What the bytes say.
  public let probe: PictureProbe
  /// When the file was last written, in seconds since 1970; nil for bytes that are no file.
  public let modified: Int?

  /// Takes bytes that are in memory already.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What errors call the picture.
  ///   - modified: When it was last written, in seconds since 1970.
  ///   - limits: What the picture may ask for.
  /// - Throws: ``ImagingError`` as ``PictureProbe`` does.
  public init(
    _ bytes: [UInt8],
    name: String = "the picture",
    modified: Int? = nil,
    limits: PictureLimits = PictureLimits()
  ) throws(ImagingError) {
    self.name = name
    self.bytes = bytes
    self.modified = modified
    probe = try PictureProbe(bytes, name: name, limits: limits)
  }

  /// Reads a file.
  ///
  /// Blocks.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limits: What the picture may ask for.
  /// - Throws: ``ImagingError`` when the file cannot be read, or as ``PictureProbe`` does.
  public init(
    _ path: FilePath,
    limits: PictureLimits = PictureLimits()
  ) throws(ImagingError) {
    let (bytes, modified) = try Self.read(path, limits)
    try self.init(bytes, name: path.shown, modified: modified, limits: limits)
  }

  /// Reads the bytes of a regular file that is not larger than the limits.
  private static func read(
    _ path: FilePath,
    _ limits: PictureLimits
  ) throws(ImagingError) -> (bytes: [UInt8], modified: Int) {
    let file = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard file >= 0 else { throw .unread(path, errno) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unread(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ImagingError(.unsupported, "cannot read \(path.shown): it is not a file")
    }
    guard status.st_size <= limits.fileBytes else {
      throw .tooLarge(path.shown, "it has more than \(limits.fileBytes) bytes")
    }
    let size = Int(status.st_size)
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = Glibc.read(file, buffer.baseAddress?.advanced(by: count), size - count)
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        count += got
      }
    }
    guard failure == 0 else { throw .unread(path, failure) }
    return (bytes, Int(status.st_mtim.tv_sec))
  }
}

extension ImagingError {
  /// Why an input cannot be read, by the system's error number.
  ///
  /// A file that is not there, or that another owns, says nothing about the disk.
  static func unread(_ path: FilePath, _ code: Int32) -> ImagingError {
    let isPath = [ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EISDIR].contains(code)
    return ImagingError(
      isPath ? .unreadable : .disk,
      "cannot read \(path.shown): \(words(for: code)); check the path"
    )
  }

  /// The system's own words for an error number, in lower case as they go in a sentence.
  static func words(for code: Int32) -> String {
    String(cString: larder_error_words(code))
  }
}
