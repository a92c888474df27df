import Base
import CPNG

/// The destination of a PNG, and the chunks that are written to it in addition to the pixels.
struct PNGOutput {
  /// Whole chunks that define the meaning of samples.
  ///
  /// They are written before the palette.
  var head: [UInt8] = []
  /// Whole chunks that are written after the palette and before the pixels.
  var middle: [UInt8] = []
  /// Where the PNG is written if it is large; nil if it stays in memory.
  var place: Place?

  /// The output file of a large PNG.
  struct Place {
    let open: PartFile.Opening
    /// A PNG of more bytes than this is written to the temporary file while it is compressed.
    let most: Int
  }

  /// Writes the bytes of a PNG to a temporary file, each time the buffer of the C encoder is full.
  private final class Overflow {
    let place: Place
    var part: PartFile?
    var failure: LarderError?

    init(_ place: Place) { self.place = place }

    func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      do throws(LarderError) {
        if part == nil { part = try place.open() }
        try part?.append(bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }
  }

  /// Collects the PNG that `encode` makes.
  ///
  /// - Parameters:
  ///   - room: A number of bytes in which most PNGs fit, without `head` and `middle`.
  ///   - failure: Is set to the error if the PNG cannot be written to the disk.
  ///   - encode: Makes the PNG. Returns false if it could not make one.
  /// - Returns: The PNG; nil if `encode` made none, or if it cannot be written.
  func collect(
    room: Int,
    _ failure: inout LarderError?,
    _ encode: (inout cpng_output) -> Bool
  ) -> EncodedFile? {
    let all = room + head.count + middle.count
    let overflow = place.flatMap { all > $0.most ? Overflow($0) : nil }
    let held = MallocBuffer.collect(room: overflow?.place.most ?? all) { bytes, count in
      head.withUnsafeBufferPointer { head in
        middle.withUnsafeBufferPointer { middle in
          var output = cpng_output()
          (output.room, output.bytes, output.size) = (bytes, bytes, count)
          (output.head, output.head_count) = (head.baseAddress, head.count)
          (output.middle, output.middle_count) = (middle.baseAddress, middle.count)
          if let overflow {
            output.taker = Unmanaged.passUnretained(overflow).toOpaque()
            output.take = { taker, bytes, count in
              guard let taker else { return false }
              // SAFETY: `taker` is `overflow`, which `withExtendedLifetime` keeps alive until the file is encoded.
              let overflow = Unmanaged<Overflow>.fromOpaque(taker).takeUnretainedValue()
              return overflow.take(UnsafeBufferPointer(start: bytes, count: count))
            }
          }
          let isMade = withExtendedLifetime(overflow) { encode(&output) }
          (bytes, count) = (output.bytes, output.count)
          return isMade
        }
      }
    }
    failure = overflow?.failure
    guard let held else { return nil }
    guard let overflow, let part = overflow.part else { return .held(held) }
    let isWhole = held.withUnsafeBufferPointer { overflow.take($0) }
    failure = overflow.failure
    return isWhole ? .waiting(part) : nil
  }
}

/// Copies chunks of one PNG to another.
enum PNGAncillary {
  /// The destination of a PNG with chunks of `file`, adapted to an upright picture of `size`.
  ///
  /// These are the chunks that define colours and, if `metadata` is true, those with metadata. If `keepsShape` is true,
  /// the result has the channels and the depth of `file`, so that its background and its significant bits (sBIT) are
  /// kept, too. If `converted` is true, the pixels were converted to sRGB, and the chunks that define other colours are
  /// left out.
  static func output(
    from file: PictureFile,
    size: PixelSize,
    metadata: Bool,
    keepsShape: Bool,
    profile: Bool,
    converted: Bool,
    to place: PNGOutput.Place?
  ) -> PNGOutput {
    guard let chunks = file.probe.structure as? PNGChunks else {
      return PNGOutput(place: place)
    }
    var first: [UInt8] = []
    for chunk in chunks.colour {
      let type = file.bytes[chunk.lowerBound + 4..<chunk.lowerBound + 8]
      if type.elementsEqual("sBIT".utf8), !keepsShape { continue }
      if type.elementsEqual("iCCP".utf8), !profile { continue }
      if converted, !type.elementsEqual("sBIT".utf8) { continue }
      first += file.bytes[chunk]
    }
    // The rendering intent 1, relative colorimetric, is the one that the conversion uses. (PNG, 11.3.2.5)
    if converted { first += Self.chunk("sRGB", [1]) }
    var later: [UInt8] = []
    for chunk in keepsShape ? chunks.background : [] { later += file.bytes[chunk] }
    for chunk in metadata ? chunks.metadata : [] {
      if let tiff = chunks.exif, tiff.lowerBound == chunk.lowerBound + 8 {
        let exif = Exif.cropped(file.bytes[tiff], width: size.width, height: size.height)
        later += Self.chunk("eXIf", exif)
      } else {
        later += cropped(file.bytes[chunk])
      }
    }
    return PNGOutput(head: first, middle: later, place: place)
  }

  /// Adapts a chunk of metadata to an upright, cropped picture.
  ///
  /// The result is empty for compressed EXIF or XMP, because these can contain previews of the whole picture.
  private static func cropped(_ chunk: ArraySlice<UInt8>) -> [UInt8] {
    let type = String(decoding: chunk.dropFirst(4).prefix(4), as: UTF8.self)
    let payload = chunk.dropFirst(8).dropLast(4)
    func begins(_ text: String) -> Bool { payload.starts(with: text.utf8) }
    if begins("Raw profile type ") { return [] }
    guard type == "iTXt", begins("XML:com.adobe.xmp\0") else { return Array(chunk) }
    guard payload.dropFirst(18).first == 0 else { return [] }
    var packet = Array(payload)
    Previews.mend(xmp: &packet)
    return Self.chunk(type, packet)
  }

  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + payload
    let sum = body.withUnsafeBufferPointer { cpng_crc($0.baseAddress, $0.count) }
    return bigEndian(UInt32(payload.count)) + body + bigEndian(sum)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }
}
