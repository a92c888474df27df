import Base
import CTIFF

/// The rows of a region of a TIFF.
///
/// Tiles, and strips with separate channels, are decoded one row of blocks at a time. Other strips are decoded row by
/// row. A block is a tile or a strip.
final class TIFFRows: RowSource {
  let shape: RowShape
  private let header: TIFFHeader
  private let region: PixelRegion
  private let name: String
  private let file: OpaquePointer
  /// The decoded blocks that cross the next row, one channel after the other.
  private var blocks: [UInt8] = []
  /// The rows of the picture that are in `blocks`.
  private var held = 0..<0
  /// The stored samples of one row: one array, or one for each channel if channels are separate.
  private var lines: [[UInt8]]
  /// The number of the next row to deliver, counted from the top of the picture.
  private var next: Int
  /// The number of the next row that libtiff will decode, if rows are decoded one by one.
  private var reached: Int

  /// Whether libtiff has found anything wrong so far.
  var isDamaged: Bool { ctiff_words(file).pointee != 0 }

  /// Starts at the region's first row.
  ///
  /// - Parameters:
  ///   - header: The first directory of the file.
  ///   - bytes: The file, which must stay valid while these rows are read.
  ///   - region: The region, in pixels of the stored picture.
  ///   - limits: The limits of the picture.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` when libtiff is not installed, or refuses the file.
  init(
    _ header: TIFFHeader,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ region: PixelRegion,
    _ limits: PictureLimits,
    name: String
  ) throws(LarderError) {
    if let words = ctiff_open() {
      throw .noLibrary(name, "TIFF", "libtiff6", String(cString: words))
    }
    (self.header, self.region, self.name, next) = (header, region, name, region.y)
    reached = region.y / header.block.height * header.block.height
    let layout: Bitmap.Layout =
      switch header.light {
      case .grey: header.alpha == .none ? .grey : .greyAlpha
      case .colours: header.alpha == .none ? .rgb : .rgba
      case .indices(let colours): .indexed(Bitmap.Palette(colours: colours))
      case .inks: .cmyk
      }
    shape = RowShape(
      width: region.width,
      height: region.height,
      layout: layout,
      depth: header.isIndexed ? header.bits : header.depth
    )
    let rowBytes = header.rowBytes(header.size.width)
    lines = Array(
      repeating: [UInt8](repeating: 0, count: rowBytes),
      count: header.isSeparate ? header.samples : 1
    )
    var form = ctiff_form(
      width: UInt32(header.size.width),
      height: UInt32(header.size.height),
      block_width: header.isTiled ? UInt32(header.block.width) : 0,
      block_height: UInt32(header.block.height),
      bits: UInt16(header.bits),
      samples: UInt16(header.samples),
      is_separate: header.isSeparate,
      jpeg_colours: header.hasJPEGColours,
      row_bytes: rowBytes,
      block_bytes: header.blockBytes
    )
    let file = ctiff_file_open(bytes.baseAddress, bytes.count, &form, limits.memory)
    guard let file else { throw .damaged(name, "its first directory is broken") }
    self.file = file
  }

  deinit { ctiff_close(file) }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    for row in 0..<count {
      if header.isTiled || header.isSeparate {
        if !held.contains(next) { try readBlocks() }
        takeLines()
      } else {
        // The rows of a strip can only be decoded one after the other.
        while reached <= next {
          let isRead = lines[0].withUnsafeMutableBufferPointer {
            ctiff_row(file, UInt32(reached), $0.baseAddress)
          }
          guard isRead else { throw failure() }
          reached += 1
        }
      }
      next += 1
      let samples = UnsafeMutableBufferPointer(
        start: target + row * shape.rowBytes,
        count: shape.rowBytes
      )
      unpack(samples)
      if header.alpha == .associated { divide(samples) }
    }
  }

  private func failure() -> LarderError {
    let words = String(cString: ctiff_words(file))
    let sentence = words.prefix(1).lowercased() + words.dropFirst()
    return .damaged(name, words.isEmpty ? "a part of it is broken or missing" : sentence)
  }

  private var blocksAcross: Int {
    (header.size.width + header.block.width - 1) / header.block.width
  }

  /// Decodes the blocks that cross the next row, for every channel.
  private func readBlocks() throws(LarderError) {
    let (bytes, across) = (header.blockBytes, blocksAcross)
    if blocks.isEmpty {
      blocks = [UInt8](repeating: 0, count: bytes * across * lines.count)
    }
    let first = next / header.block.height * header.block.height
    var isRead = true
    blocks.withUnsafeMutableBufferPointer { blocks in
      for plane in 0..<lines.count {
        for column in 0..<across where isRead {
          let start = blocks.baseAddress.map { $0 + (plane * across + column) * bytes }
          let x = UInt32(column * header.block.width)
          isRead = ctiff_block(file, x, UInt32(first), UInt16(plane), start)
        }
      }
    }
    guard isRead else { throw failure() }
    held = first..<first + header.block.height
  }

  /// Copies the samples of the next row from the blocks to `lines`.
  ///
  /// A row of a tile consists of whole bytes, because the width of a tile is a multiple of 16. (Section 15)
  private func takeLines() {
    let (bytes, across) = (header.blockBytes, blocksAcross)
    let rowBytes = header.rowBytes(header.block.width)
    for plane in lines.indices {
      for column in 0..<across {
        let from = (plane * across + column) * bytes + (next - held.lowerBound) * rowBytes
        let to = column * rowBytes
        let count = min(rowBytes, lines[plane].count - to)
        guard count > 0 else { continue }
        lines[plane].replaceSubrange(to..<to + count, with: blocks[from..<from + count])
      }
    }
  }

  /// Writes the samples of a row that are within the region and belong to a channel that is used.
  private func unpack(_ target: UnsafeMutableBufferPointer<UInt8>) {
    let shown = header.shownChannels
    let step = header.isSeparate ? 1 : header.samples
    let isInverted = header.light == .grey(isInverted: true)
    for channel in 0..<shown {
      let flips = isInverted && channel == 0
      let first = region.x * step + (header.isSeparate ? 0 : channel)
      lines[header.isSeparate ? channel : 0].withUnsafeBufferPointer { line in
        switch header.bits {
        case 8:
          for x in 0..<region.width {
            let value = line[first + x * step]
            target[x * shown + channel] = flips ? ~value : value
          }
        case 16:
          for x in 0..<region.width {
            let place = (first + x * step) * 2
            unpackWide(line[place], line[place + 1], flips, (x * shown + channel), target)
          }
        default:
          unpackBits(line, flips, target)
        }
      }
    }
  }

  /// Writes a 16-bit sample in the machine's byte order.
  ///
  /// A sample of CMYK is rounded to 8 bits.
  private func unpackWide(
    _ low: UInt8,
    _ high: UInt8,
    _ flips: Bool,
    _ place: Int,
    _ target: UnsafeMutableBufferPointer<UInt8>
  ) {
    if shape.depth == 16 {
      target[place * 2] = flips ? ~low : low
      target[place * 2 + 1] = flips ? ~high : high
    } else {
      let value = Int(UInt16(littleEndian: UInt16(low) | UInt16(high) << 8))
      target[place] = UInt8((value + 128) / 257)
    }
  }

  /// Converts samples of less than 8 bits to palette indices or to 8-bit grey; only the first sample of a pixel is
  /// used.
  private func unpackBits(
    _ line: UnsafeBufferPointer<UInt8>,
    _ flips: Bool,
    _ target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let bits = header.bits
    let most = UInt8(1 << bits - 1)
    let widest = header.isIndexed ? 1 : 255 / most
    let step = header.isSeparate ? 1 : header.samples
    for x in 0..<region.width {
      // The leftmost sample of a byte is in the highest bits.
      let place = (region.x + x) * step * bits
      let value = line[place / 8] >> UInt8(8 - bits - place % 8) & most
      target[x] = (flips ? most - value : value) * widest
    }
  }

  /// Divides colours by alpha, because they are stored multiplied by it.
  private func divide(_ target: UnsafeMutableBufferPointer<UInt8>) {
    let channels = shape.layout.channels
    let isWide = shape.depth == 16
    let most = isWide ? 65_535 : 255
    let raw = UnsafeMutableRawBufferPointer(target)
    func value(_ place: Int) -> Int {
      isWide
        ? Int(raw.loadUnaligned(fromByteOffset: place * 2, as: UInt16.self)) : Int(target[place])
    }
    for pixel in 0..<region.width {
      let alpha = value(pixel * channels + channels - 1)
      guard alpha < most, alpha > 0 else { continue }
      for place in pixel * channels..<pixel * channels + channels - 1 {
        let colour = min((value(place) * most + alpha / 2) / alpha, most)
        if isWide {
          raw.storeBytes(of: UInt16(colour), toByteOffset: place * 2, as: UInt16.self)
        } else {
          target[place] = UInt8(colour)
        }
      }
    }
  }
}
