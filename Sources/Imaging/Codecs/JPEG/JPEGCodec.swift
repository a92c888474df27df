import Base
import CJPEG
import Glibc

/// JPEG in and out by libjpeg-turbo, of which no pointer or struct is seen elsewhere.
enum JPEGCodec {
  /// What libjpeg holds a file's samples to be.
  struct Header {
    let colourSpace: Int32
    let hasAdobe: Bool
    /// The layout of its bitmaps.
    let layout: Bitmap.Layout

    /// Whether its samples are red, green and blue, rather than light and two colours.
    var isRGB: Bool { Int(colourSpace) == cjpeg_rgb }
  }

  /// Encoded bytes, and whether the file they came from was damaged.
  struct Outcome<Value> {
    let value: Value
    let isDamaged: Bool
  }

  /// How a file is written, beside its pixels.
  struct Form {
    /// 1 to 100; nil for the tables of the file that it is like, or libjpeg's own quality.
    var quality: Int?
    /// Whether it is progressive; else as the file that it is like.
    var isProgressive = false
    /// How much colour there is; nil for as much as in the file that it is like, else a quarter.
    var chroma: ChromaSampling?

    fileprivate var forJPEG: cjpeg_form {
      cjpeg_form(
        quality: Int32(quality ?? 0),
        chroma: chroma.flatMap { Int32($0.rawValue) } ?? 0,
        progressive: isProgressive
      )
    }
  }

  /// Reads a file's header.
  static func header(of file: PictureFile) throws(LarderError) -> Header {
    var header = cjpeg_header()
    var outcome = cjpeg_outcome()
    let done = file.bytes.withUnsafeBufferPointer {
      cjpeg_read_header($0.baseAddress, $0.count, &header, &outcome)
    }
    guard done else { throw error(file.name, outcome) }
    let layout: Bitmap.Layout =
      switch Int(header.color_space) {
      case cjpeg_grey: .grey
      case cjpeg_rgb, cjpeg_ycc: .bgrx
      case cjpeg_cmyk, cjpeg_ycck: .cmyk
      default:
        throw LarderError(
          .unsupported,
          "cannot read \(file.name): a JPEG of \(header.components) unknown channels; save it as RGB"
        )
      }
    return Header(colourSpace: header.color_space, hasAdobe: header.adobe, layout: layout)
  }

  /// Decodes a region of the stored picture at `eighths`/8 of its size, and lays it upright where it is stored in an
  /// orientation.
  static func decode(
    _ file: PictureFile,
    _ region: PixelRegion,
    eighths: Int = 8,
    layout: Bitmap.Layout,
    from orientation: Orientation = .upright,
    _ limits: PictureLimits
  ) throws(LarderError) -> Outcome<Bitmap> {
    try limits.check(
      memory: region.width * region.height * layout.channels,
      of: file.name
    )
    var outcome = cjpeg_outcome()
    let size = orientation.upright(region.size)
    let bitmap = try Bitmap(
      width: size.width,
      height: size.height,
      layout: layout,
      depth: 8
    ) { (pixels) throws(LarderError) in
      var rows = UprightRows(into: pixels, region.size, from: orientation, layout.channels)
      let done = file.bytes.withUnsafeBufferPointer {
        cjpeg_decode(
          $0.baseAddress,
          $0.count,
          limits.forJPEG,
          Int32(eighths),
          region.forJPEG,
          layout.forJPEG,
          { context, row in
            guard let row else { return }
            // SAFETY: `context` is `rows` above, and a row has as many pixels as the region is wide.
            context?.assumingMemoryBound(to: UprightRows.self).pointee.take(row)
          },
          &rows,
          &outcome
        )
      }
      guard done else { throw error(file.name, outcome) }
    }
    return Outcome(value: bitmap, isDamaged: outcome.warnings > 0 || file.probe.isCutShort)
  }

  /// Decodes the whole stored picture at an eighth of its size, whatever may be wrong with it.
  static func glance(
    _ file: PictureFile,
    layout: Bitmap.Layout,
    _ limits: PictureLimits
  ) throws(LarderError) -> Bitmap {
    let stored = file.probe.stored
    let size = PixelSize(width: (stored.width + 7) / 8, height: (stored.height + 7) / 8)
    try limits.check(memory: size.width * size.height * layout.channels, of: file.name)
    var outcome = cjpeg_outcome()
    return try Bitmap(
      width: size.width,
      height: size.height,
      layout: layout,
      depth: 8
    ) { (pixels) throws(LarderError) in
      let done = file.bytes.withUnsafeBufferPointer {
        cjpeg_glance(
          $0.baseAddress,
          $0.count,
          limits.forJPEG,
          layout.forJPEG,
          pixels.baseAddress,
          size.width * layout.channels,
          &outcome
        )
      }
      guard done else { throw error(file.name, outcome) }
    }
  }

  /// Encodes a part of the stored picture again without holding either in memory.
  static func recode(
    _ file: PictureFile,
    _ part: Part,
    _ form: Form,
    _ limits: PictureLimits
  ) throws(LarderError) -> Outcome<[UInt8]> {
    var outcome = cjpeg_outcome()
    let made = try part.take { region, chooser in
      MallocBuffer.collect(room: file.roomForSquare) { out, count in
        file.bytes.withUnsafeBufferPointer {
          cjpeg_recode(
            $0.baseAddress,
            $0.count,
            limits.forJPEG,
            region,
            chooser,
            form.forJPEG,
            &out,
            &count,
            &outcome
          )
        }
      }
    }
    guard let made else { throw error(file.name, outcome) }
    return Outcome(value: made, isDamaged: outcome.warnings > 0 || file.probe.isCutShort)
  }

  /// Cuts an upright picture between its blocks; nil where libjpeg cannot.
  ///
  /// - Throws: ``ImagingError`` that finding the part threw.
  static func cut(
    _ file: PictureFile,
    _ part: Part,
    progressive: Bool,
    _ limits: PictureLimits
  ) throws(LarderError) -> Outcome<[UInt8]>? {
    var outcome = cjpeg_outcome()
    let made = try part.take { region, chooser in
      MallocBuffer.collect(room: file.roomForSquare) { out, count in
        file.bytes.withUnsafeBufferPointer {
          cjpeg_cut(
            $0.baseAddress,
            $0.count,
            limits.forJPEG,
            region,
            chooser,
            progressive,
            &out,
            &count,
            &outcome
          )
        }
      }
    }
    guard let made else { return nil }
    return Outcome(value: made, isDamaged: outcome.warnings > 0 || file.probe.isCutShort)
  }

  /// Turns and crops without decoding; nil where TurboJPEG cannot.
  static func transform(
    _ file: PictureFile,
    _ orientation: Orientation,
    _ region: PixelRegion,
    progressive: Bool
  ) -> Outcome<[UInt8]>? {
    var outcome = cjpeg_outcome()
    let made = MallocBuffer.collect(room: file.roomForSquare) { out, count in
      file.bytes.withUnsafeBufferPointer {
        cjpeg_transform(
          $0.baseAddress,
          $0.count,
          orientation.forTurboJPEG,
          region.forJPEG,
          progressive,
          &out,
          &count,
          &outcome
        )
      }
    }
    guard let made else { return nil }
    return Outcome(value: made, isDamaged: outcome.warnings > 0 || file.probe.isCutShort)
  }

  /// The quality whose tables are used for pixels that the source does not have, where the source's own
  /// are coarser.
  static let leastFine = 75

  /// Encodes a bitmap, like another file if there is one; a large one that nobody else holds gives its memory back
  /// meanwhile.
  ///
  /// `like` lends its tables, sampling and colour space, on its side if `transposed`. For pixels with
  /// `hasNewDetail`, which the source does not have, tables coarser than those of `leastFine` are not lent.
  static func encode(
    _ bitmap: consuming Bitmap,
    _ form: Form,
    like file: PictureFile? = nil,
    transposed: Bool = false,
    hasNewDetail: Bool = false,
    name: String
  ) throws(LarderError) -> [UInt8] {
    var outcome = cjpeg_outcome()
    let (width, height, layout) = (bitmap.width, bitmap.height, bitmap.layout)
    let rows = LentRows.plain(bitmap)
    var lent: Bitmap? = consume bitmap
    let made = MallocBuffer.collect(room: width * height / 4 + 65_536) { out, size in
      lent.take()?.lend(rows) { rows in
        (file?.bytes ?? []).withUnsafeBufferPointer { like in
          var encoding = cjpeg_encoding(
            next: rows.next,
            context: rows.context,
            width: rows.width,
            height: rows.height,
            color_space: layout.forJPEG,
            form: form.forJPEG,
            finer_than: hasNewDetail ? Int32(leastFine) : 0,
            like: file == nil ? nil : like.baseAddress,
            like_count: like.count,
            transposed: transposed
          )
          return cjpeg_encode(&encoding, &out, &size, &outcome)
        }
      } ?? false
    }
    guard let made else { throw error(name, outcome) }
    return made
  }

  private static func error(_ name: String, _ outcome: cjpeg_outcome) -> LarderError {
    let words = withUnsafeBytes(of: outcome.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return outcome.out_of_memory
      ? .tooLarge(name, "it takes more memory than is allowed")
      : .damaged(name, words.prefix(1).lowercased() + words.dropFirst())
  }
}

extension PictureFile {
  /// Bytes that a square of the picture takes at most, as a rule; what is not written takes no memory.
  fileprivate var roomForSquare: Int { bytes.count + 65_536 }
}

extension PictureLimits {
  fileprivate var forJPEG: cjpeg_limits { cjpeg_limits(memory: memory, scans: Int32(scans)) }
}

extension PixelRegion {
  /// As CJPEG has it.
  var forJPEG: cjpeg_region {
    cjpeg_region(
      x: UInt32(x),
      y: UInt32(y),
      width: UInt32(width),
      height: UInt32(height)
    )
  }
}

extension Bitmap.Layout {
  fileprivate var forJPEG: Int32 {
    switch self {
    case .grey: Int32(cjpeg_grey)
    case .rgb: Int32(cjpeg_rgb)
    case .cmyk: Int32(cjpeg_cmyk)
    default: Int32(cjpeg_bgrx)
    }
  }
}

extension Orientation {
  /// The TJXOP that makes a picture of this orientation upright.
  fileprivate var forTurboJPEG: Int32 {
    switch self {
    case .upright: 0
    case .mirrored: 1
    case .flipped: 2
    case .transposed: 3
    case .transversed: 4
    case .turnedLeft: 5
    case .upsideDown: 6
    case .turnedRight: 7
    }
  }
}

extension JPEGCodec {
  /// Which region of the stored picture is taken.
  enum Part {
    /// One that is known.
    case region(PixelRegion)
    /// One that is found in the picture at an eighth of its size or, where that is more than a look
    /// needs, smaller, `grey` or `bgrx`.
    ///
    /// The coefficients are read once for both, and held, packed.
    case found((Bitmap) throws(LarderError) -> PixelRegion)

    /// Calls `body` with the region, or with what finds it.
    ///
    /// - Throws: ``ImagingError`` that finding it threw; `body` is told that there is none.
    func take<Result>(
      _ body: (cjpeg_region, UnsafePointer<cjpeg_chooser>?) -> Result
    ) throws(LarderError) -> Result {
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
        do throws(LarderError) {
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
    let find: (Bitmap) throws(LarderError) -> PixelRegion
    var error: LarderError?

    init(_ find: @escaping (Bitmap) throws(LarderError) -> PixelRegion) {
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
