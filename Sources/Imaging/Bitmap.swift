/// Decoded pixels: rows from the top, pixels from the left, no padding between them.
///
/// Samples of up to 8 bits take a byte each; those of 16 bits take two, in the machine's order.
/// Alpha is straight: colours are not multiplied by it.
public struct Bitmap: Sendable, Equatable {
  /// What the samples of one pixel are, in memory order.
  public enum Layout: Sendable, Equatable {
    /// One sample of light.
    case grey
    /// Light, then alpha.
    case greyAlpha
    /// Red, green, blue.
    case rgb
    /// Red, green, blue, alpha.
    case rgba
    /// Blue, green, red and a byte of no meaning: what Cairo calls RGB24.
    case bgrx
    /// Four inks, in the sense that the file has them (Adobe's are inverted).
    case cmyk
    /// Indices into a palette.
    case indexed(Palette)

    /// Samples of a pixel.
    public var channels: Int {
      switch self {
      case .grey, .indexed: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba, .bgrx, .cmyk: 4
      }
    }

    /// Samples of a pixel that mean something: of `bgrx`, the last does not.
    var meaningful: Int { self == .bgrx ? 3 : channels }

    /// Whether the last sample of a pixel is alpha; a palette may have alpha, too.
    var hasAlpha: Bool { self == .rgba || self == .greyAlpha }

    /// Light of the same kind with alpha; inks and indices as they are.
    var withAlpha: Layout {
      switch self {
      case .grey, .greyAlpha: .greyAlpha
      case .rgb, .rgba, .bgrx: .rgba
      case .cmyk, .indexed: self
      }
    }

    /// Bytes of a pixel whose samples have so many bits.
    func pixelBytes(depth: Int) -> Int { channels * (depth == 16 ? 2 : 1) }
  }

  /// The colours of an indexed picture.
  public struct Palette: Sendable, Equatable {
    /// Red, green and blue of each entry, one after the other.
    public var colours: [UInt8]
    /// The alpha of the first entries; those after them are opaque.
    public var alpha: [UInt8]

    /// Makes a palette.
    ///
    /// - Parameters:
    ///   - colours: Red, green and blue of each entry.
    ///   - alpha: The alpha of the first entries.
    public init(colours: [UInt8], alpha: [UInt8] = []) {
      self.colours = colours
      self.alpha = alpha
    }
  }

  /// Pixels from left to right.
  public let width: Int
  /// Pixels from top to bottom.
  public let height: Int
  /// What the samples of a pixel are.
  public let layout: Layout
  /// Bits of a sample that count: 1, 2, 4, 8 or 16.
  public let depth: Int
  /// A colour that stands for clear, a number for each channel: a PNG's tRNS without alpha.
  public var clear: [UInt16]?
  /// The samples.
  public internal(set) var samples: [UInt8]

  /// Bytes of a pixel.
  public var pixelBytes: Int { layout.pixelBytes(depth: depth) }

  /// Bytes of a row.
  public var rowBytes: Int { width * pixelBytes }

  /// Makes a bitmap of samples.
  ///
  /// - Parameters:
  ///   - width: Pixels from left to right.
  ///   - height: Pixels from top to bottom.
  ///   - layout: What the samples of a pixel are.
  ///   - depth: Bits of a sample that count: 1, 2, 4, 8 or 16.
  ///   - samples: As many bytes as `width`, `height`, `layout` and `depth` need.
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

  /// Makes a bitmap whose samples `fill` writes, all of them.
  init<Failure: Error>(
    width: Int,
    height: Int,
    layout: Layout,
    depth: Int,
    filling fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let count = width * height * layout.pixelBytes(depth: depth)
    var failure: Failure?
    let samples = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Failure) {
        try fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
        initialized = count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    self.init(width: width, height: height, layout: layout, depth: depth, samples: samples)
  }
}
