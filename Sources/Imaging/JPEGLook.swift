import CJPEG

extension JPEGCodec {
  /// Which region of the stored picture is taken.
  enum Part {
    /// One that is known.
    case region(PixelRegion)
    /// One that is found in the picture at an eighth of its size or, where that is more than a look
    /// needs, smaller, `grey` or `bgrx`.
    ///
    /// The coefficients are read once for both, and held, packed.
    case found((Bitmap) throws(ImagingError) -> PixelRegion)

    /// Calls `body` with the region, or with what finds it.
    ///
    /// - Throws: ``ImagingError`` that finding it threw; `body` is told that there is none.
    func take<Result>(
      _ body: (cjpeg_region, UnsafePointer<cjpeg_chooser>?) -> Result
    ) throws(ImagingError) -> Result {
      switch self {
      case .region(let region): return body(region.forJPEG, nil)
      case .found(let find):
        let finder = Finder(find)
        // The finder lives until the sequence has ended, and is called in it alone.
        let context = Unmanaged.passUnretained(finder).toOpaque()
        var chooser = cjpeg_chooser(
          choose: Self.choose,
          context: context,
          least: UInt32(Attention.side)
        )
        let result = withExtendedLifetime(finder) { body(cjpeg_region(), &chooser) }
        if let error = finder.error { throw error }
        return result
      }
    }

    // Swift frames above libjpeg's: this returns before anything jumps.
    private static let choose:
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32, UInt32, Bool,
        UnsafeMutablePointer<cjpeg_region>?
      ) -> Bool = { context, pixels, across, down, isGrey, region in
        guard let context, let pixels, let region else { return false }
        // SAFETY: the context is the Finder that `take` keeps alive.
        let finder = Unmanaged<Finder>.fromOpaque(context).takeUnretainedValue()
        let count = Int(across) * Int(down) * (isGrey ? 1 : 4)
        let glance = Bitmap(
          width: Int(across),
          height: Int(down),
          layout: isGrey ? .grey : .bgrx,
          samples: Array(UnsafeBufferPointer(start: pixels, count: count))
        )
        do throws(ImagingError) {
          region.pointee = try finder.find(glance).forJPEG
          return true
        } catch {
          finder.error = error
          return false
        }
      }
  }

  /// What finds a region, and why it could not.
  private final class Finder {
    let find: (Bitmap) throws(ImagingError) -> PixelRegion
    var error: ImagingError?

    init(_ find: @escaping (Bitmap) throws(ImagingError) -> PixelRegion) {
      self.find = find
    }
  }

  /// Whether all coefficients may be held to look at them before a part is taken.
  ///
  /// Not those of several scans, of which the first are enough for a look.
  static func canLook(at markers: JPEGMarkers) -> Bool {
    guard markers.scans == 1, markers.sampling.count == 1 || markers.sampling.count == 3 else {
      return false
    }
    let most = PixelSize(
      width: markers.sampling.map(\.width).max() ?? 1,
      height: markers.sampling.map(\.height).max() ?? 1
    )
    let shares = markers.sampling.reduce(0.0) {
      $0 + Double($1.width * $1.height) / Double(most.width * most.height)
    }
    return Double(markers.size.width * markers.size.height) * shares * 2
      <= Double(Attention.mostBytes)
  }
}
