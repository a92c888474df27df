import Base
import CPNG

/// Encodes PNGs with libpng, and reports its errors.
///
/// Only this folder uses libpng's pointers and structs.
enum PNGCodec {
  /// Encodes rows, which may have any layout except `cmyk`.
  ///
  /// - Parameters:
  ///   - rows: The rows of the picture.
  ///   - interlaced: Whether the file is interlaced. This needs the whole picture in memory.
  ///   - level: zlib's compression level, from 0 to 9. If it is nil, it depends on the size.
  ///   - chunks: Whole chunks to write before the palette.
  ///   - place: Where the PNG is written if it is large; nil if it stays in memory.
  ///   - limits: The limits of the picture.
  /// - Returns: The file.
  /// - Throws: ``LarderError`` when the rows cannot be read, or the file cannot be written.
  static func encode(
    _ rows: any RowSource,
    interlaced: Bool = false,
    level: Int? = nil,
    with chunks: [UInt8] = [],
    to place: Place? = nil,
    _ limits: NamedLimits
  ) throws(LarderError) -> EncodedFile {
    let rows = rows.shape.layout == .bgrx ? rows.flattened(.rgb) : rows
    let shape = rows.shape
    if interlaced { try limits.check(memory: shape.height * shape.rowBytes) }
    var palette = Bitmap.Palette(colours: [])
    if case .indexed(let colours) = shape.layout { palette = colours }
    let clear = palette.colours.isEmpty ? shape.clear ?? [] : []
    let sink = Sink(place, (shape.rowBytes + 1) * shape.height / 256 * 257 + 65_536 + chunks.count)
    var target = cpng_target()
    (target.width, target.height) = (UInt32(shape.width), UInt32(shape.height))
    (target.depth, target.color_type) = (
      Int32(shape.depth), try colourType(of: shape, limits.name)
    )
    (target.level, target.interlaced) = (Int32(level ?? self.level(for: shape)), interlaced)
    target.row_bytes = shape.rowBytes
    target.palette_count = Int32(palette.colours.count / 3)
    (target.alpha_count, target.clear_count) = (Int32(palette.alpha.count), Int32(clear.count))
    target.chunk_bytes = chunks.count
    target.taker = Unmanaged.passUnretained(sink).toOpaque()
    target.take = { taker, bytes, count in
      guard let taker else { return false }
      // SAFETY: `taker` is `sink`, which `withExtendedLifetime` keeps alive until the writer is closed.
      return Unmanaged<Sink>.fromOpaque(taker).takeUnretainedValue()
        .take(UnsafeBufferPointer(start: bytes, count: count))
    }
    return try withExtendedLifetime(sink) { () throws(LarderError) -> EncodedFile in
      var outcome = cpng_outcome()
      let writer = cpng_writer_open(
        &target,
        palette.colours,
        palette.alpha,
        clear,
        chunks,
        &outcome
      )
      guard let writer else { throw sink.failure ?? error(limits, outcome) }
      defer { cpng_writer_close(writer) }
      let most = interlaced ? shape.height : max((1 << 18) / max(shape.rowBytes, 1), 16)
      try rows.inStrips(of: most) { (strip, _, count) throws(LarderError) in
        guard cpng_writer_next(writer, strip.baseAddress, UInt32(count), &outcome) else {
          throw sink.failure ?? error(limits, outcome)
        }
      }
      return try sink.finish()
    }
  }

  /// The output file of a large PNG.
  struct Place {
    let open: PartFile.Opening
    /// A PNG of more bytes than this is written to the temporary file while it is compressed.
    let most: Int
  }

  /// Collects the bytes of a PNG in memory, or in a temporary file if there are many.
  private final class Sink {
    private let place: Place?
    private var held: [UInt8] = []
    private var part: PartFile?
    /// Why the bytes could not be written to the disk.
    private(set) var failure: LarderError?

    /// Makes a sink; most PNGs have at most `room` bytes.
    init(_ place: Place?, _ room: Int) {
      self.place = place
      // An output that fits is never in memory twice. Memory is used only for bytes that are written.
      held.reserveCapacity(min(room, place?.most ?? .max))
    }

    func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      do throws(LarderError) {
        if let place, held.count + bytes.count > place.most { try write(to: place) }
        held.append(contentsOf: bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }

    /// Moves the bytes in memory to the temporary file.
    private func write(to place: Place) throws(LarderError) {
      if part == nil { part = try place.open() }
      guard let part else { return }
      try held.withUnsafeBufferPointer { (bytes) throws(LarderError) in try part.append(bytes) }
      held.removeAll(keepingCapacity: true)
    }

    /// The file, after all of its bytes have been taken.
    func finish() throws(LarderError) -> EncodedFile {
      guard let place, let part else { return .held(held) }
      try write(to: place)
      return .waiting(part)
    }
  }

  /// A whole chunk.
  static func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    func long(_ value: UInt) -> [UInt8] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
    }
    let body = Array(type.utf8) + payload
    return long(UInt(payload.count)) + body + long(crc32_z(0, body, body.count))
  }

  /// zlib's compression level, which is lower for larger pictures.
  ///
  /// Up to 4 megapixels, the level is zlib's default, 6. Above that, it is 4: a photo of 12 megapixels is encoded in
  /// 0.66 s instead of 1.46 s, and becomes a ninth larger. Above 24 megapixels, it is 1: a square crop of a photo of 61
  /// megapixels is encoded in 2 s instead of 3 s, and becomes a twelfth larger. A palette index counts as a third of a
  /// pixel.
  private static func level(for shape: RowShape) -> Int {
    var pixels = shape.width * shape.height
    if case .indexed = shape.layout { pixels /= 3 }
    return pixels > 24_000_000 ? 1 : pixels > 4_000_000 ? 4 : 6
  }

  /// The number of a layout in the header. (PNG, 11.2.1)
  private static func colourType(
    of shape: RowShape,
    _ name: String
  ) throws(LarderError) -> Int32 {
    switch shape.layout {
    case .grey: 0
    case .rgb: 2
    case .indexed: 3
    case .greyAlpha: 4
    case .rgba: 6
    case .bgrx, .cmyk:
      throw LarderError(
        .unsupported,
        "cannot write \(name): PNG does not support this pixel format; use JPEG"
      )
    }
  }

  static func error(_ limits: NamedLimits, _ outcome: cpng_outcome) -> LarderError {
    outcome.out_of_memory ? limits.outOfMemory : limits.damaged(String(inArray: outcome.message))
  }
}
