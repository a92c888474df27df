import Base

/// A conversion of pixels to another layout or depth, for example from grey to RGB.
///
/// Each pixel is converted by itself, without its neighbours.
struct Conversion {
  /// The layout of the result.
  let layout: Bitmap.Layout
  /// The bits of a sample of the result.
  let depth: Int
  /// Reads the samples of whole pixels from the first buffer, and writes the converted pixels to the second buffer.
  let convert: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Void

  /// Replaces palette indices by their colours, as `rgb` or `rgba`; nil if the rows have no palette.
  ///
  /// The result is `rgba` if alpha was requested or any colour is not opaque. An index for which the palette has no
  /// colour becomes black.
  static func expanded(_ shape: RowShape, withAlpha: Bool = false) -> Conversion? {
    guard case .indexed(let palette) = shape.layout else { return nil }
    let layout = withAlpha || palette.hasAlpha ? Bitmap.Layout.rgba : .rgb
    let step = layout.channels
    let colours = (0..<256).map { index -> SIMD4<UInt8> in
      var colour = SIMD4<UInt8>(0, 0, 0, index < palette.alpha.count ? palette.alpha[index] : 255)
      for channel in 0..<3 where index < palette.colours.count / 3 {
        colour[channel] = palette.colours[index * 3 + channel]
      }
      return colour
    }
    return Conversion(layout: layout, depth: 8) { indices, target in
      let target = UnsafeMutableRawBufferPointer(target)
      // Writes four bytes at once; without alpha, the next pixel overwrites the fourth byte.
      for (place, index) in indices.dropLast().enumerated() {
        target.storeBytes(of: colours[Int(index)], toByteOffset: place * step, as: SIMD4.self)
      }
      guard let last = indices.last else { return }
      for channel in 0..<step {
        target[(indices.count - 1) * step + channel] = colours[Int(last)][channel]
      }
    }
  }

  /// Rounds samples of 16 bits to 8 bits; nil if the samples have another depth.
  static func narrowed(_ shape: RowShape) -> Conversion? {
    guard shape.depth == 16 else { return nil }
    return Conversion(layout: shape.layout, depth: 8) { samples, target in
      let source = UnsafeRawBufferPointer(samples)
      for index in 0..<samples.count / 2 {
        let value = Int(source.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        target[index] = UInt8((value + 128) / 257)
      }
    }
  }

  /// Converts grey to RGB and palette indices to their colours; nil if the rows have colours already.
  ///
  /// Alpha is kept.
  static func coloured(_ shape: RowShape) -> Conversion? {
    switch shape.layout {
    case .indexed: expanded(shape)
    case .grey: arranged(shape, as: .rgb, [0, 0, 0])
    case .greyAlpha: arranged(shape, as: .rgba, [0, 0, 0, 1])
    default: nil
    }
  }

  /// Adds alpha to pixels, which become opaque `rgba` or `greyAlpha`; nil for CMYK, palette indices, and rows with
  /// alpha.
  static func withAlpha(_ shape: RowShape) -> Conversion? {
    guard shape.depth >= 8 else { return nil }
    return switch shape.layout {
    case .grey: arranged(shape, as: .greyAlpha, [0, nil])
    case .rgb: arranged(shape, as: .rgba, [0, 1, 2, nil])
    case .bgrx: arranged(shape, as: .rgba, [2, 1, 0, nil])
    default: nil
    }
  }

  /// Takes each sample of a pixel from another place in the pixel, or makes it opaque alpha if the place is nil.
  ///
  /// Samples of fewer than 8 bits are stretched to 8.
  private static func arranged(
    _ shape: RowShape,
    as layout: Bitmap.Layout,
    _ places: [Int?]
  ) -> Conversion {
    let bytes = shape.depth == 16 ? 2 : 1
    let places = places.flatMap { place in
      (0..<bytes).map { byte in place.map { $0 * bytes + byte } }
    }
    let widest = UInt8(255 / ((1 << min(shape.depth, 8)) - 1))
    return Conversion(layout: layout, depth: max(shape.depth, 8)) { source, target in
      for (byte, place) in places.enumerated() {
        var (from, to) = (place ?? 0, byte)
        while from < source.count {
          target[to] = place == nil ? 255 : source[from] &* widest
          from += shape.pixelBytes
          to += places.count
        }
      }
    }
  }

  /// Converts any pixels to 8 bits in the layout `target`, `rgb` or `bgrx`, one conversion after the other.
  ///
  /// Transparent pixels are composited on `colour`.
  static func flattened(
    _ target: Bitmap.Layout,
    on colour: PictureColour
  ) -> [(RowShape) -> Conversion?] {
    [
      { $0.layout == .cmyk ? filtered(isInverted: true) : nil }, narrowed, coloured,
      { opaque($0, target, on: colour) },
    ]
  }

  /// Composites 8-bit pixels on an opaque colour: from `rgb`, `rgba` or `bgrx` to `target`, another layout without
  /// alpha.
  private static func opaque(
    _ shape: RowShape,
    _ target: Bitmap.Layout,
    on colour: PictureColour
  ) -> Conversion? {
    guard shape.layout != target else { return nil }
    guard shape.layout == .rgba else {
      return arranged(shape, as: target, target == .rgb ? [2, 1, 0] : [2, 1, 0, nil])
    }
    let behind = colour.samples(in: target).map(Int.init)
    return Conversion(layout: target, depth: 8) { source, pixels in
      for pixel in 0..<source.count / 4 {
        let alpha = Int(source[pixel * 4 + 3])
        for channel in 0..<3 {
          let own = Int(source[pixel * 4 + (target == .rgb ? channel : 2 - channel)])
          let mixed = (own * alpha + behind[channel] * (255 - alpha) + 127) / 255
          pixels[pixel * behind.count + channel] = UInt8(mixed)
        }
        if target == .bgrx { pixels[pixel * 4 + 3] = 255 }
      }
    }
  }

  /// Converts CMYK to `bgrx` without a profile.
  ///
  /// Each ink acts as a filter for the light that the other inks let through. `isInverted` means that a sample of 255 is
  /// no ink.
  static func filtered(isInverted: Bool) -> Conversion {
    let flip: UInt8 = isInverted ? 0 : 255
    return Conversion(layout: .bgrx, depth: 8) { source, pixels in
      for start in stride(from: 0, to: source.count, by: 4) {
        let light = Int(source[start + 3] ^ flip)
        for channel in 0..<3 {
          pixels[start + 2 - channel] = UInt8(Int(source[start + channel] ^ flip) * light / 255)
        }
        pixels[start + 3] = 255
      }
    }
  }
}

/// The rows of another source, after a conversion of each pixel.
final class ConvertedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  private let conversion: Conversion
  /// A buffer for a row of the source, so that the row is still in the processor's cache when it is converted.
  private let row: UnsafeMutablePointer<UInt8>

  init(_ source: any RowSource, _ conversion: Conversion) {
    (self.source, self.conversion) = (source, conversion)
    let from = source.shape
    var shape = from
    (shape.layout, shape.depth, shape.clear) = (conversion.layout, conversion.depth, nil)
    self.shape = shape
    row = .allocate(capacity: from.rowBytes)
  }

  deinit { row.deallocate() }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    for index in 0..<count {
      try source.read(1, into: row)
      let made = target + index * shape.rowBytes
      conversion.convert(
        UnsafeBufferPointer(start: row, count: source.shape.rowBytes),
        UnsafeMutableBufferPointer(start: made, count: shape.rowBytes)
      )
    }
  }
}

extension RowSource {
  /// These rows after a conversion, or the rows themselves if the conversion does not apply to them.
  func converted(_ conversion: (RowShape) -> Conversion?) -> any RowSource {
    if let conversion = conversion(shape) { return ConvertedRows(self, conversion) }
    return self
  }

  /// Converts these rows to 8 bits in the layout `target`, `rgb` or `bgrx`; transparent pixels get an opaque
  /// background.
  func flattened(_ target: Bitmap.Layout, on colour: PictureColour = .white) -> any RowSource {
    Conversion.flattened(target, on: colour).reduce(self as any RowSource) { $0.converted($1) }
  }

  /// These rows, composited on a colour if they have alpha.
  func opaque(on colour: PictureColour) -> any RowSource {
    var hasAlpha = shape.layout.hasAlpha
    if case .indexed(let palette) = shape.layout { hasAlpha = palette.hasAlpha }
    return hasAlpha ? flattened(.rgb, on: colour) : self
  }
}

extension Bitmap {
  var shape: RowShape {
    RowShape(
      size: PixelSize(width: width, height: height),
      layout: layout,
      depth: depth,
      clear: clear
    )
  }
}
