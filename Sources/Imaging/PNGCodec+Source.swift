import CPNG

extension PNGCodec {
  /// What is to be read of a file.
  struct Source {
    let file: PictureFile
    let chunks: PNGChunks
    let region: PixelRegion
    let form: Form
    let layout: Bitmap.Layout
    let depth: Int
    let side: Int
    var band: Int
    let memory: Int

    var pixelBytes: Int { layout.pixelBytes(depth: depth) }
    var rowBytes: Int { region.width * pixelBytes }

    init(
      _ file: PictureFile,
      _ region: PixelRegion,
      _ form: Form,
      narrowed: Bool = false,
      _ band: Int,
      _ limits: PictureLimits
    ) throws(ImagingError) {
      guard case .png(let chunks) = file.probe.structure else {
        throw ImagingError(.unsupported, "cannot read \(file.name): it is not a PNG")
      }
      let (layout, depth) = PNGCodec.shape(of: chunks, form)
      (self.layout, self.depth) = (layout, narrowed ? min(depth, 8) : depth)
      (self.file, self.chunks, self.region, self.form) = (file, chunks, region, form)
      (side, self.band, memory) = (limits.side, band, limits.memory)
      // An interlaced picture is unpacked once for each band of it; this bounds how often.
      let rows = chunks.isInterlaced ? chunks.size.height : 1
      try limits.check(memory: chunks.size.width * rows * pixelBytes, of: file.name)
    }

    /// Holds the less of an interlaced picture, the larger what is made of it.
    mutating func leaveRoom(for bytes: Int) { band = max(band - bytes / 4, band / 3) }

    func lend(_ body: (inout cpng_source) -> Bool) -> Bool {
      file.bytes.withUnsafeBufferPointer { bytes in
        var source = cpng_source(
          bytes: bytes.baseAddress,
          count: bytes.count,
          data_end: chunks.dataEnd,
          side: UInt32(clamping: side),
          form: form.forPNG,
          channels: Int32(layout.channels),
          depth: Int32(depth),
          region: region.forPNG,
          band: band,
          memory: memory
        )
        return body(&source)
      }
    }
  }
}

extension PNGCodec.Form {
  fileprivate var forPNG: Int32 {
    switch self {
    case .native: Int32(cpng_native)
    case .expanded: Int32(cpng_expanded)
    case .coloured: Int32(cpng_coloured)
    }
  }
}

extension PixelRegion {
  fileprivate var forPNG: cpng_region {
    cpng_region(
      x: UInt32(x),
      y: UInt32(y),
      width: UInt32(width),
      height: UInt32(height)
    )
  }
}
