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
  static func expanded(_ shape: RowShape, withAlpha: Bool = false) -> Conversion? {
    guard case .indexed(let palette) = shape.layout else { return nil }
    let table = Bitmap.Palette.Table(palette, withAlpha: withAlpha)
    return Conversion(layout: table.layout, depth: 8) { table.look(up: $0[...], into: $1) }
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
    let (from, depth) = (shape.layout.channels, shape.depth)
    let bytes = depth == 16 ? 2 : 1
    switch shape.layout {
    case .indexed: return expanded(shape)
    case .grey, .greyAlpha:
      let widest = UInt8(255 / ((1 << min(depth, 8)) - 1))
      return Conversion(layout: from == 1 ? .rgb : .rgba, depth: max(depth, 8)) { rows, target in
        var place = 0
        for start in stride(from: 0, to: rows.count, by: from * bytes) {
          for byte in start..<start + bytes {
            let light = rows[byte] &* widest
            target[place] = light
            target[place + bytes] = light
            target[place + 2 * bytes] = light
            if from == 2 { target[place + 3 * bytes] = rows[byte + bytes] }
            place += 1
          }
          place += (from + 1) * bytes
        }
      }
    default: return nil
    }
  }

  /// Adds alpha to pixels, which become opaque `rgba` or `greyAlpha`; nil for CMYK, palette indices, and rows with
  /// alpha.
  static func withAlpha(_ shape: RowShape) -> Conversion? {
    let layout = shape.layout
    guard layout == .grey || layout == .rgb || layout == .bgrx, shape.depth >= 8 else {
      return nil
    }
    let to = layout.withAlpha
    let isSwapped = layout == .bgrx
    let (step, colours, bytes) = (layout.channels, to.channels - 1, shape.depth == 16 ? 2 : 1)
    return Conversion(layout: to, depth: shape.depth) { source, target in
      var place = 0
      for start in stride(from: 0, to: source.count, by: step * bytes) {
        for channel in 0..<colours {
          let from = start + (isSwapped ? 2 - channel : channel) * bytes
          for byte in 0..<bytes { target[place + byte] = source[from + byte] }
          place += bytes
        }
        for byte in 0..<bytes { target[place + byte] = 255 }
        place += bytes
      }
    }
  }

  /// Composites 8-bit pixels on an opaque colour: from `rgb`, `rgba` or `bgrx` to `target`, a layout without alpha.
  static func flattened(
    _ shape: RowShape,
    _ target: Bitmap.Layout,
    on colour: PictureColour
  ) -> Conversion {
    let behind = colour.onWhite.samples(in: target).map(Int.init)
    let (from, to) = (shape.layout.channels, target.channels)
    let isSwapped = (shape.layout == .bgrx) != (target == .bgrx)
    let hasAlpha = shape.layout == .rgba
    return Conversion(layout: target, depth: 8) { source, pixels in
      for pixel in 0..<source.count / from {
        let alpha = hasAlpha ? Int(source[pixel * 4 + 3]) : 255
        for channel in 0..<3 {
          let value = Int(source[pixel * from + (isSwapped ? 2 - channel : channel)])
          pixels[pixel * to + channel] =
            alpha == 255
            ? UInt8(value) : UInt8((value * alpha + behind[channel] * (255 - alpha) + 127) / 255)
        }
        if to == 4 { pixels[pixel * 4 + 3] = 255 }
      }
    }
  }

  /// Converts CMYK without a profile.
  ///
  /// Each ink acts as a filter for the light that the other inks let through.
  static func seen(_ target: Bitmap.Layout) -> Conversion {
    let (step, isSwapped) = (target.channels, target == .bgrx)
    return Conversion(layout: target, depth: 8) { source, pixels in
      for pixel in 0..<source.count / 4 {
        let light = Int(source[pixel * 4 + 3])
        for channel in 0..<3 {
          let value = Int(source[pixel * 4 + channel]) * light / 255
          pixels[pixel * step + (isSwapped ? 2 - channel : channel)] = UInt8(value)
        }
        if step == 4 { pixels[pixel * 4 + 3] = 255 }
      }
    }
  }
}

/// The rows of another source, after a conversion of each pixel.
final class ConvertedRows: RowSource {
  let shape: RowShape
  private let source: any RowSource
  private let conversion: Conversion
  /// At most this many rows are converted at a time, so that they stay in the processor's cache.
  private let most: Int
  /// A buffer for the rows of the source.
  private var room: [UInt8]

  init(_ source: any RowSource, _ conversion: Conversion) {
    (self.source, self.conversion) = (source, conversion)
    let from = source.shape
    shape = RowShape(
      width: from.width,
      height: from.height,
      layout: conversion.layout,
      depth: conversion.depth
    )
    most = min(max((1 << 17) / max(from.rowBytes, 1), 1), max(from.height, 1))
    room = [UInt8](repeating: 0, count: most * from.rowBytes)
  }

  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws(LarderError) {
    let from = source.shape.rowBytes
    var (left, target) = (count, target)
    while left > 0 {
      let taken = min(left, most)
      try room.withUnsafeMutableBufferPointer { (room) throws(LarderError) in
        guard let start = room.baseAddress else { return }
        try source.read(taken, into: start)
        conversion.convert(
          UnsafeBufferPointer(rebasing: room[..<(taken * from)]),
          UnsafeMutableBufferPointer(start: target, count: taken * shape.rowBytes)
        )
      }
      target += taken * shape.rowBytes
      left -= taken
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
    guard shape.layout != .cmyk else { return ConvertedRows(self, .seen(target)) }
    let colours = converted(Conversion.narrowed).converted(Conversion.coloured)
    return colours.shape.layout == target
      ? colours : ConvertedRows(colours, .flattened(colours.shape, target, on: colour))
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
    RowShape(width: width, height: height, layout: layout, depth: depth, clear: clear)
  }

  /// This bitmap after a conversion, or the bitmap itself if the conversion does not apply to it.
  func converted(_ conversion: (RowShape) -> Conversion?) -> Bitmap {
    guard let conversion = conversion(shape) else { return self }
    return Bitmap(width: width, height: height, layout: conversion.layout, depth: conversion.depth)
    {
      target in
      samples.withUnsafeBufferPointer { conversion.convert($0, target) }
    }
  }

  /// Converts the picture to 8 bits in the layout `target`, `rgb` or `bgrx`; transparent pixels get an opaque
  /// background.
  func flattened(_ target: Layout = .bgrx, on colour: PictureColour = .white) -> Bitmap {
    guard layout != .cmyk else { return converted { _ in .seen(target) } }
    let colours = converted(Conversion.narrowed).converted(Conversion.coloured)
    return colours.layout == target
      ? colours : colours.converted { .flattened($0, target, on: colour) }
  }
}
