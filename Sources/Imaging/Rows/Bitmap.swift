import Glibc

/// Decoded pixels: the rows from top to bottom, and in each row the pixels from left to right.
///
/// There are no unused bytes between rows. A sample of up to 8 bits takes one byte. A sample of 16 bits takes two
/// bytes, in the machine's byte order. Alpha is straight, which means that colours are not multiplied by it.
public struct Bitmap: Sendable, Equatable {
  /// The samples of one pixel, in memory order.
  public enum Layout: Sendable, Equatable {
    /// One grey sample.
    case grey
    /// A grey sample, then alpha.
    case greyAlpha
    /// Red, green, blue.
    case rgb
    /// Red, green, blue, alpha.
    case rgba
    /// Blue, green, red and an unused byte: Cairo's RGB24.
    case bgrx
    /// Cyan, magenta, yellow and black, with the values that are stored in the file.
    ///
    /// Adobe's programs store them inverted.
    case cmyk
    /// Indices into a palette.
    case indexed(Palette)

    /// The number of samples of a pixel.
    public var channels: Int {
      switch self {
      case .grey, .indexed: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba, .bgrx, .cmyk: 4
      }
    }

    /// Whether the last sample of a pixel is alpha.
    ///
    /// A palette can have alpha even if this is false.
    var hasAlpha: Bool { self == .rgba || self == .greyAlpha }

    func pixelBytes(depth: Int) -> Int { channels * (depth == 16 ? 2 : 1) }
  }

  /// The colours of an indexed picture.
  public struct Palette: Sendable, Equatable {
    /// The red, green and blue values of each entry, for example `[255, 0, 0, 0, 0, 0]` for red and black.
    public var colours: [UInt8]
    /// The alpha of the first entries.
    ///
    /// All further entries are opaque.
    public var alpha: [UInt8] = []
  }

  /// Pixels from left to right.
  public internal(set) var width: Int
  /// Pixels from top to bottom.
  public internal(set) var height: Int
  /// The layout of the samples of a pixel.
  public let layout: Layout
  /// The significant bits of a sample: 1, 2, 4, 8 or 16.
  public let depth: Int
  /// One colour that is transparent, as one value for each channel; nil if no colour is.
  ///
  /// A PNG without alpha stores it in its tRNS chunk.
  public var clear: [UInt16]?
  /// The samples of all pixels.
  public internal(set) var samples: [UInt8]

  /// The number of bytes of a pixel.
  public var pixelBytes: Int { layout.pixelBytes(depth: depth) }

  /// The number of bytes of a row.
  public var rowBytes: Int { width * pixelBytes }

  /// Makes a bitmap from samples.
  ///
  /// - Parameters:
  ///   - width: Pixels from left to right.
  ///   - height: Pixels from top to bottom.
  ///   - layout: The layout of the samples of a pixel.
  ///   - depth: The significant bits of a sample: 1, 2, 4, 8 or 16.
  ///   - samples: The samples of all pixels. Their number of bytes must be what `width`, `height`, `layout` and `depth`
  ///     require.
  public init(width: Int, height: Int, layout: Layout, depth: Int = 8, samples: [UInt8]) {
    self.width = width
    self.height = height
    self.layout = layout
    self.depth = depth
    self.samples = samples
    precondition(samples.count == rowBytes * height, "a bitmap needs all of its samples")
  }

  /// The samples of the pixel at `x`, `y`.
  public subscript(x: Int, y: Int) -> [UInt16] {
    let start = y * rowBytes + x * pixelBytes
    guard depth == 16 else { return samples[start..<start + pixelBytes].map(UInt16.init) }
    return samples.withUnsafeBytes { samples in
      (0..<layout.channels).map {
        samples.loadUnaligned(fromByteOffset: start + $0 * 2, as: UInt16.self)
      }
    }
  }

  /// Makes a bitmap with the samples that `fill` writes; `fill` must write all samples.
  init<Failure: Error>(
    width: Int,
    height: Int,
    layout: Layout,
    depth: Int,
    filling fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let count = width * height * layout.pixelBytes(depth: depth)
    let samples = try [UInt8](unsafeUninitializedCapacity: count) {
      (buffer, made) throws(Failure) in
      try fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      made = count
    }
    self.init(width: width, height: height, layout: layout, depth: depth, samples: samples)
  }
}

extension PixelRegion {
  /// The region with a margin of two pixels, as far as the picture has them.
  ///
  /// Pixels at the edge of the region need their neighbours outside of it, because a decoder upsamples the chroma. The
  /// result's x and y are even, as libraries require.
  func padded(in size: PixelSize) -> PixelRegion {
    let (left, top) = (max(x - 2, 0) & ~1, max(y - 2, 0) & ~1)
    let (right, bottom) = (min(x + width + 2, size.width), min(y + height + 2, size.height))
    return PixelRegion(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The position of this region within `outer`, which contains it.
  func inside(_ outer: PixelRegion) -> PixelRegion {
    PixelRegion(x: x - outer.x, y: y - outer.y, width: width, height: height)
  }
}

extension Bitmap.Palette {
  /// Whether any colour is not opaque.
  var hasAlpha: Bool { !alpha.allSatisfy { $0 == 255 } }
}

extension Bitmap {
  /// Removes everything outside of `region`.
  mutating func keep(_ region: PixelRegion) {
    guard region != PixelRegion(x: 0, y: 0, width: width, height: height) else { return }
    let (from, bytes) = (rowBytes, region.width * pixelBytes)
    let first = region.y * from + region.x * pixelBytes
    samples.withUnsafeMutableBytes { samples in
      guard let start = samples.baseAddress else { return }
      for y in 0..<region.height { memmove(start + y * bytes, start + first + y * from, bytes) }
    }
    samples.removeLast(samples.count - bytes * region.height)
    (width, height) = (region.width, region.height)
  }

  /// Gives the memory of `bytes` back to the system, in whole pages.
  ///
  /// The samples there read as zero afterwards. Call this only with samples that were obtained for mutation, so that no
  /// other bitmap shares their memory.
  static func releasePages(_ bytes: UnsafeBufferPointer<UInt8>) {
    let page = sysconf(CInt(_SC_PAGESIZE))
    let start = Int(bitPattern: bytes.baseAddress)
    let (first, end) = ((start + page - 1) / page * page, (start + bytes.count) / page * page)
    guard first < end, let pages = UnsafeMutableRawPointer(bitPattern: first) else { return }
    // SAFETY: these pages are within samples that no other bitmap shares, because they were obtained for mutation.
    // malloc maps them privately for this process, so they read as zero afterwards.
    madvise(pages, end - first, MADV_DONTNEED)
  }

  /// Whether any pixel of an `rgba` bitmap of 8 bits is not opaque.
  var isClearAnywhere: Bool {
    guard layout == .rgba, depth == 8 else { return false }
    return samples.withUnsafeBufferPointer { samples in
      stride(from: 3, to: samples.count, by: 4).contains { samples[$0] < 255 }
    }
  }
}
