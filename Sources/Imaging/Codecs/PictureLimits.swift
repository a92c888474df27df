import Base

/// Limits that protect from decompression bombs; they are checked before any pixel of a picture is decoded.
public struct PictureLimits: Equatable, Sendable, Codable {
  /// The maximum number of pixels of the whole picture.
  public var pixels: Int
  /// The maximum number of pixels along either side.
  public var side: Int
  /// The maximum number of scans of a JPEG, which are the passes in which a progressive JPEG is stored.
  public var scans: Int
  /// The largest product of scans and pixels; it limits the work of a decoder.
  public var scannedPixels: Int
  /// The maximum number of bytes of metadata, which is everything in the file except the picture itself.
  public var metadataBytes: Int
  /// The maximum number of bytes of the file.
  public var fileBytes: Int
  /// The maximum number of bytes of one bitmap, or of all planes of a picture together.
  public var memory: Int
  /// The maximum number of bytes that a library is allowed to take while it decodes.
  ///
  /// An AVIF decoder, for example, can take several times the size of the planes.
  public var decoding: Int

  /// Makes limits; the defaults admit any photo, and stop decompression bombs.
  ///
  /// A picture that is processed row by row takes little memory at any size, so the limit on pixels mainly bounds the
  /// time. The default exceeds the photos of phones and cameras, and most panoramas.
  public init(
    pixels: Int = 150_000_000,
    side: Int = 65_535,
    scans: Int = 100,
    scannedPixels: Int = 1_000_000_000,
    metadataBytes: Int = 16 << 20,
    fileBytes: Int = 512 << 20,
    memory: Int = 512 << 20,
    decoding: Int = 1 << 30
  ) {
    self.pixels = pixels
    self.side = side
    self.scans = scans
    self.scannedPixels = scannedPixels
    self.metadataBytes = metadataBytes
    self.fileBytes = fileBytes
    self.memory = memory
    self.decoding = decoding
  }

  /// Limits for pictures of up to `pixels`.
  ///
  /// The limits of memory, work and sides grow with the pixels.
  ///
  /// - Parameter pixels: The maximum number of pixels; a number below one counts as one.
  /// - Returns: The limits. Only `pixels` can be below its default.
  public static func allowing(pixels: Int) -> PictureLimits {
    var limits = PictureLimits()
    // A larger number would overflow the products below.
    limits.pixels = min(max(pixels, 1), 1 << 40)
    limits.side = max(limits.side, min(limits.pixels, 0x7FFF_FFFF))
    limits.scannedPixels = max(limits.scannedPixels, limits.pixels * 20)
    limits.memory = max(limits.memory, limits.pixels * 8)
    limits.decoding = max(limits.decoding, limits.pixels * 59)
    limits.fileBytes = max(limits.fileBytes, limits.pixels * 8)
    return limits
  }

  /// The longest side to which a picture can be scaled.
  static let scaledSide = 16_384

  /// A picture of any size is allowed to have this many scans; ordinary progressive files have 10.
  private static let usualScans = 12

  /// Checks the size of a picture.
  func check(width: Int, height: Int, of name: String) throws(LarderError) {
    guard width > 0, height > 0 else {
      throw .damaged(name, "its header says \(width) × \(height) pixels")
    }
    guard width <= side, height <= side else {
      throw .overLimit(name, "\(width) × \(height) has a side of more than \(side) pixels")
    }
    guard width * height <= pixels else {
      throw .overLimit(name, "\(width) × \(height) is more than \(pixels) pixels")
    }
  }

  /// Checks the scans of a JPEG of `pixels` pixels.
  func check(scans count: Int, pixels: Int, of name: String) throws(LarderError) {
    guard count <= scans else { throw .tooLarge(name, "it has more than \(scans) scans") }
    guard count <= Self.usualScans || count * pixels <= scannedPixels else {
      throw .overLimit(name, "\(count) scans of \(pixels) pixels are too much work")
    }
  }

  /// Checks the number of bytes of metadata.
  func check(metadata count: Int, of name: String) throws(LarderError) {
    guard count <= metadataBytes else {
      throw .tooLarge(name, "it has more than \(metadataBytes) bytes of metadata")
    }
  }

  /// Checks the number of bytes that a library will allocate.
  func check(decoding count: Int, of name: String) throws(LarderError) {
    guard count <= decoding else {
      throw .overLimit(name, "decoding it may take \(count) bytes of memory, over \(decoding)")
    }
  }

  /// Checks the number of bytes of an allocation.
  func check(memory count: Int, of name: String) throws(LarderError) {
    guard count <= memory else {
      throw .overLimit(name, "it takes \(count) bytes of memory, more than \(memory)")
    }
  }
}
