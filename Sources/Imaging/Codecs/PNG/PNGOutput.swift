import Base
import CPNG

/// The destination of a PNG, and the additional chunks to write.
struct PNGOutput {
  /// Whole chunks that define the meaning of samples; they are written before the palette.
  var head: [UInt8] = []
  /// Whole chunks that are written between the palette and the data.
  var middle: [UInt8] = []
  /// The file to which the PNG will be written; nil if the PNG stays in memory.
  var place: Place?

  /// The output file of a PNG.
  struct Place {
    let open: PartFile.Opening
    /// At most this many bytes are held in memory; a larger PNG is written to the file while it is compressed.
    let most: Int
  }

  /// Receives the bytes that the C encoder passes on when its buffer is full.
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

  /// Collects the file that `encode` makes.
  ///
  /// - Parameters:
  ///   - room: A number of bytes in which most files fit, without `head` and `middle`.
  ///   - failure: Set to the disk error, if any.
  ///   - encode: Makes the file; returns false if it could not make one.
  /// - Returns: The file; nil if `encode` made none, or it cannot be written.
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
  /// The chunks of a cropped, upright picture of `size`: the colour chunks of `file`, and on request its metadata.
  ///
  /// `converted` means that the picture was converted to sRGB, regardless of the colours of `file`.
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
    // The rendering intent is relative colorimetric, as in the conversion. (PNG, 11.3.2.5)
    if converted { first += Self.chunk("sRGB", [1]) }
    var later: [UInt8] = []
    for chunk in keepsShape ? chunks.background : [] { later += file.bytes[chunk] }
    for chunk in metadata ? chunks.metadata : [] {
      if let tiff = chunks.exif, tiff.lowerBound == chunk.lowerBound + 8,
        let exif = file.probe.exif
      {
        let exif = exif.cropped(file.bytes[tiff], width: size.width, height: size.height)
        later += Self.chunk("eXIf", exif)
      } else {
        later += cropped(file.bytes[chunk])
      }
    }
    return PNGOutput(head: first, middle: later, place: place)
  }

  /// Adapts a chunk of metadata to an upright, cropped picture.
  ///
  /// Returns nothing for compressed EXIF or XMP, which may hold previews of the whole picture.
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
