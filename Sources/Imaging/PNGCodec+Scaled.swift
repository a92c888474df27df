import CPNG
import CZimg

extension PNGCodec {
  /// Bytes of a part of a picture that is decoded whole before it is scaled; more is scaled on its way.
  static let most = 32 << 20

  /// Bytes of rows that are held of a picture that is scaled on its way.
  static let strip = 8 << 20

  /// Decodes a region of the stored picture and scales it as its rows come, so that it is never in
  /// memory whole.
  static func scaled(
    _ file: PictureFile,
    _ region: PixelRegion,
    to size: PixelSize,
    strip: Int = strip,
    _ limits: PictureLimits
  ) throws(ImagingError) -> Bitmap {
    var source = try Source(file, region, .expanded, band, limits)
    let target = size.width * size.height * source.pixelBytes
    try limits.check(memory: target, of: file.name)
    // The larger what is made, the less is held of what it is made from.
    source.band = max(band - target / 4, band / 3)
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: source.layout,
      depth: source.depth
    ) { (target) throws(ImagingError) in
      var outcome = cpng_outcome()
      let picture = czimg_picture(
        samples: target.baseAddress,
        width: UInt32(size.width),
        height: UInt32(size.height),
        channels: Int32(source.layout.channels),
        wide: source.depth == 16
      )
      let done = withUnsafeMutablePointer(to: &outcome) { outcome in
        source.lend {
          withUnsafePointer(to: &$0) { Self.scale($0, to: picture, strip: strip, outcome) }
        }
      }
      // Where no word was left, it is the scaling that had too little memory.
      if !done, outcome.message.0 == 0 { outcome.out_of_memory = true }
      guard done else { throw error(file.name, outcome) }
    }
  }

  private static func scale(
    _ source: UnsafePointer<cpng_source>,
    to picture: czimg_picture,
    strip: Int,
    _ outcome: UnsafeMutablePointer<cpng_outcome>
  ) -> Bool {
    guard let rows = cpng_rows_open(source, outcome) else { return false }
    defer { cpng_rows_close(rows) }
    let coming = czimg_rows(
      width: source.pointee.region.width,
      height: source.pointee.region.height,
      next: { cpng_rows_next(OpaquePointer($0), $1, $2) },
      context: UnsafeMutableRawPointer(rows)
    )
    let hasAlpha = picture.channels % 2 == 0
    return withUnsafePointer(to: coming) { coming in
      withUnsafePointer(to: picture) { czimg_scale_rows(coming, $0, hasAlpha, strip, false) }
    }
  }
}
