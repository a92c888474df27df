import Base
import CTIFF

/// The rows of a TIFF.
final class TIFFRows: RowSource {
  let shape: RowShape
  private let header: TIFFHeader
  private let limits: NamedLimits
  private let file: OpaquePointer
  /// The stored samples of one row.
  private var line: [UInt8]
  /// The number of the next row to deliver.
  private var next = 0

  /// The first message of libtiff; empty if it has found nothing wrong so far.
  private var words: String { String(cString: ctiff_words(file)) }

  var isDamaged: Bool { !words.isEmpty }

  /// Starts at the first row.
  ///
  /// - Parameters:
  ///   - header: The first directory of the file.
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - limits: The limits of the picture.
  /// - Throws: ``LarderError`` when libtiff is not installed, or refuses the file.
  init(
    _ header: TIFFHeader,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ limits: NamedLimits
  ) throws(LarderError) {
    try limits.checkOpened(ctiff_open(), "libtiff6", for: "TIFF")
    (self.header, self.limits) = (header, limits)
    shape = RowShape(
      size: header.size,
      layout: header.layout,
      depth: header.isIndexed ? header.bits : header.depth
    )
    let (lineBytes, tile) = (
      header.rowBytes(header.size.width), header.tile ?? PixelSize(width: 0, height: 0)
    )
    line = [UInt8](repeating: 0, count: lineBytes)
    var form = ctiff_form(
      width: UInt32(header.size.width),
      height: UInt32(header.size.height),
      tile_width: UInt32(tile.width),
      tile_height: UInt32(tile.height),
      bits: UInt16(header.bits),
      samples: UInt16(header.samples),
      jpeg_colours: header.hasJPEGColours,
      row_bytes: lineBytes,
      tile_row_bytes: header.rowBytes(tile.width)
    )
    guard let file = ctiff_file_open(bytes.baseAddress, bytes.count, &form, limits.memory) else {
      throw limits.damaged("its first directory is broken")
    }
    self.file = file
  }

  deinit { ctiff_close(file) }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    for row in 0..<count {
      let isRead = line.withUnsafeMutableBufferPointer {
        ctiff_row(file, UInt32(next), $0.baseAddress)
      }
      guard isRead else {
        throw limits.damaged(
          words.isEmpty ? "a part of it is broken or missing" : words.uncapitalized
        )
      }
      next += 1
      let start = target + row * shape.rowBytes
      let pixels = UnsafeMutableRawBufferPointer(start: start, count: shape.rowBytes)
      line.withUnsafeBytes { unpack($0, pixels) }
    }
  }

  /// Writes the samples of a row that belong to a channel that is used.
  private func unpack(
    _ line: UnsafeRawBufferPointer,
    _ target: UnsafeMutableRawBufferPointer
  ) {
    let (channels, bits) = (shape.layout.channels, header.bits)
    if bits >= 8, bits == shape.depth, channels == header.samples, !header.isInverted,
      !header.isAssociated
    {
      return target.copyMemory(from: UnsafeRawBufferPointer(rebasing: line[..<target.count]))
    }
    let most = 1 << bits - 1
    // Grey and alpha of fewer than 8 bits get 8 bits.
    let widest = bits < 8 && !header.isIndexed ? 255 / most : 1
    var pixel = [Int](repeating: 0, count: channels)
    for x in 0..<shape.width {
      for channel in 0..<channels {
        let bit = (x * header.samples + channel) * bits
        // libtiff delivers 16 bits in the machine's byte order. In other bytes, the leftmost sample has the highest bits.
        pixel[channel] =
          bits == 16
          ? Int(line.loadUnaligned(fromByteOffset: bit / 8, as: UInt16.self))
          : Int(line[bit / 8]) >> (8 - bits - bit % 8) & most
      }
      if header.isInverted { pixel[0] = most - pixel[0] }
      if widest > 1 {
        for channel in 0..<channels { pixel[channel] *= widest }
      }
      if header.isAssociated { divide(&pixel, bits == 16 ? 65_535 : 255) }
      for channel in 0..<channels {
        let place = x * channels + channel
        if shape.depth == 16 {
          target.storeBytes(of: UInt16(pixel[channel]), toByteOffset: place * 2, as: UInt16.self)
        } else {
          // CMYK of 16 bits becomes 8-bit CMYK.
          target[place] = UInt8(bits == 16 ? (pixel[channel] + 128) / 257 : pixel[channel])
        }
      }
    }
  }

  /// Divides colours by alpha, because they are stored multiplied by it.
  private func divide(_ pixel: inout [Int], _ most: Int) {
    let alpha = pixel[pixel.count - 1]
    guard alpha < most, alpha > 0 else { return }
    for channel in 0..<pixel.count - 1 {
      pixel[channel] = min((pixel[channel] * most + alpha / 2) / alpha, most)
    }
  }
}
