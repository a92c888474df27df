import Base

/// Limits that protect from decompression bombs; they are checked before any pixel of a picture is decoded.
public struct PictureLimits: Equatable, Sendable, Codable {
  /// The maximum number of pixels of the whole picture.
  public var pixels: Int
  /// The maximum number of pixels along either side.
  public var side = 65_535
  /// The maximum number of scans of a JPEG, which are the passes in which a progressive JPEG is stored.
  public var scans = 100
  /// The largest product of scans and pixels; it limits the work of a decoder.
  public var scannedPixels = 1_000_000_000
  /// The maximum number of bytes of metadata, which is everything in the file except the picture itself.
  public var metadataBytes = 16 << 20
  /// The maximum number of bytes of the file.
  public var fileBytes = 512 << 20
  /// The maximum number of bytes of one bitmap, or of all planes of a picture together.
  public var memory = 512 << 20
  /// The maximum number of bytes that a library is allowed to take while it decodes.
  ///
  /// An AVIF decoder, for example, can take several times the size of the planes.
  public var decoding = 1 << 30

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

  /// These limits for the picture `name`.
  func named(_ name: String) -> NamedLimits { NamedLimits(limits: self, name: name) }
}

extension PictureLimits {
  /// Makes limits; the defaults admit any photo, and stop decompression bombs.
  ///
  /// A picture that is processed row by row takes little memory at any size, so the limit on pixels mainly bounds the
  /// time. The default exceeds the photos of phones and cameras, and most panoramas.
  public init(pixels: Int = 150_000_000) { self.pixels = pixels }
}

/// The limits of a picture, with the name of the picture for errors.
@dynamicMemberLookup
struct NamedLimits {
  let limits: PictureLimits
  let name: String

  /// A picture of any size is allowed to have this many scans; ordinary progressive files have 10.
  private static let usualScans = 12

  subscript<Value>(dynamicMember limit: KeyPath<PictureLimits, Value>) -> Value {
    limits[keyPath: limit]
  }

  /// The error for a damaged picture; `reason` completes “cannot read NAME: …”.
  func damaged(_ reason: String) -> LarderError { .damaged(name, reason) }

  /// The error for a picture that is too large; `reason` completes “cannot read NAME: …”.
  func tooLarge(_ reason: String) -> LarderError { .tooLarge(name, reason) }

  /// The error for a picture that takes more memory than ``PictureLimits/memory`` or a library allows.
  var outOfMemory: LarderError { tooLarge("it takes more memory than is allowed") }

  /// The error for a picture of an unsupported kind; `kind` completes “cannot read NAME: …”.
  func unsupported(_ kind: String) -> LarderError {
    LarderError(.unsupported, "cannot read \(name): \(kind)")
  }

  /// Checks that a library could be opened, which `format` needs.
  ///
  /// - Parameters:
  ///   - words: The dynamic loader's message; nil if the library is open.
  ///   - package: The package to install.
  ///   - format: The format, such as `AVIF`.
  /// - Throws: ``LarderError`` of code `library`.
  func checkOpened(
    _ words: UnsafePointer<CChar>?,
    _ package: String,
    for format: String
  ) throws(LarderError) {
    guard let words else { return }
    throw LarderError(
      .library,
      "cannot process \(name): \(format) needs a library that cannot be opened "
        + "(\(String(cString: words))); install \(package)"
    )
  }

  /// The error for a picture that exceeds a limit which the user can raise.
  private func overLimit(_ reason: String) -> LarderError {
    LarderError(.tooLarge, "cannot read \(name): \(reason)", remedy: .smallerOrMorePixels)
  }

  /// Checks the size of a picture.
  func check(width: Int, height: Int) throws(LarderError) {
    guard width > 0, height > 0 else {
      throw damaged("its header says \(width) × \(height) pixels")
    }
    guard max(width, height) <= limits.side else {
      throw overLimit("\(width) × \(height) has a side of more than \(limits.side) pixels")
    }
    guard width * height <= limits.pixels else {
      throw overLimit("\(width) × \(height) is more than \(limits.pixels) pixels")
    }
  }

  /// Checks the scans of a JPEG of `pixels` pixels.
  func check(scans count: Int, pixels: Int) throws(LarderError) {
    guard count <= limits.scans else {
      throw tooLarge("it has more than \(limits.scans) scans")
    }
    guard count <= Self.usualScans || count * pixels <= limits.scannedPixels else {
      throw overLimit("\(count) scans of \(pixels) pixels are too much work")
    }
  }

  /// Checks the number of bytes of metadata.
  func check(metadata count: Int) throws(LarderError) {
    guard count <= limits.metadataBytes else {
      throw tooLarge("it has more than \(limits.metadataBytes) bytes of metadata")
    }
  }

  /// Checks the number of bytes that a library will allocate.
  func check(decoding count: Int) throws(LarderError) {
    guard count <= limits.decoding else {
      throw overLimit("decoding it may take \(count) bytes of memory, over \(limits.decoding)")
    }
  }

  /// Checks the number of bytes of an allocation.
  func check(memory count: Int) throws(LarderError) {
    guard count <= limits.memory else {
      throw overLimit("it takes \(count) bytes of memory, more than \(limits.memory)")
    }
  }
}
