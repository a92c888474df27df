import Base
import Glibc
import SystemPackage

/// Crops a picture, and writes a time, its date and its weekday on it.
///
///     var stamp = Stamp(crop: Crop(size: 1080))
///     stamp.locale = try StampLocale("ko_KR")
///     stamp.zone = try Zone(named: "Asia/Seoul")
///     let picture = try stamp.apply(to: PictureFile("morning.jpg"))
///     print(picture.time?.description ?? "", picture.time?.source.rawValue ?? "")
///
/// The size of the letters depends on the size of the picture. The letters are black or white, depending on the pixels
/// behind them. A scrim, which is a translucent layer behind the letters, is made strong enough for a contrast of 7:1.
public struct Stamp: PictureMaking {
  /// The crop to stamp.
  ///
  /// The crop's `lossless` has no effect, because pixels change. If its fit is `.contain` and it has no frame, the
  /// whole picture is stamped in its own shape.
  public var crop: Crop
  /// The time to show.
  public var time: StampTime.Choice
  /// The zone in which the time is shown.
  ///
  /// If it is nil, the time is shown with its own offset or, if it has none, in `localZone`.
  public var zone: Zone?
  /// The zone that applies to times without an offset.
  public var localZone: Zone
  /// The language and the format of the date; nil if they are English.
  public var locale: StampLocale?
  /// The text; if it is nil, the stamp shows the time, and below it the date and the weekday.
  public var template: StampTemplate?
  /// How the letters are made to stand out from the picture.
  public var style = StampStyle.bar
  /// Another line of text, below the date.
  public var text: String?
  /// A logo, which is drawn in the corner diagonally opposite the text.
  public var logo: PictureFile?
  /// The position of the text.
  ///
  /// `attention` is treated as the middle.
  public var place: Gravity
  /// A font family that must be installed.
  ///
  /// It is tried before `fontFamily`.
  public var font: String?
  /// The font families to try, from left to right, separated by commas.
  public var fontFamily: String
  /// The clock, which returns seconds since 1970.
  public var now: @Sendable () -> Int = { Glibc.time(nil) }

  /// The limits that a picture must not exceed.
  public var limits: PictureLimits { crop.limits }

  /// Makes a stamp with the time at which a picture was taken, or with another time.
  ///
  /// Other properties can be set afterwards.
  ///
  /// - Parameters:
  ///   - crop: The crop to stamp.
  ///   - time: The time to show.
  public init(crop: Crop = Crop(), time: StampTime.Choice = .exif) {
    self.crop = crop
    self.time = time
    localZone = .local
    place = .bottomLeft
    fontFamily = "NanumSquare, NanumGothic, Noto Sans, Sans"
  }

  /// Checks the options of the crop, and whether the font is installed.
  public func check() throws(LarderError) {
    try crop.check()
    if let font { try Typesetter.check(font) }
  }

  /// Stamps a picture for an output file.
  ///
  /// A large PNG is written to a temporary file in the folder of `output`, instead of being held in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    try apply(to: file, opening: PartFile.opening(output))
  }

  /// Stamps a picture.
  ///
  /// - Parameter file: The picture to stamp. CMYK becomes RGB. Samples of 16 bits and alpha are kept if the format of
  ///   the result can hold them.
  /// - Returns: The stamped picture, with the time that it shows.
  /// - Throws: ``LarderError`` when the picture cannot be read, when it lacks the requested time, or when no font is
  ///   installed.
  public func apply(to file: PictureFile) throws(LarderError) -> EncodedPicture {
    try apply(to: file, opening: nil)
  }

  /// Stamps a picture, and calls `open` if the result is a PNG that is too large for memory.
  ///
  /// If `open` is nil, every result stays in memory.
  func apply(
    to file: PictureFile,
    opening open: PartFile.Opening?
  ) throws(LarderError) -> EncodedPicture {
    try check()
    let moment = try StampTime(self, taken: file.taken, modified: file.modified, name: file.name)
    var stamp = self
    if crop.fit == .contain, crop.frame == nil {
      stamp.crop.frame = PixelSize(width: file.probe.width, height: file.probe.height)
    }
    var picture = try stamp.crop.made(from: file, opening: open, stamping: (stamp, moment))
    picture.summary.time = moment
    return picture
  }
}

extension Stamp {
  /// The lines of a stamp with their positions, and the box around them, in pixels.
  struct Block {
    var lines: [TextLine]
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// The length, in pixels, that sets the size of letters and margins.
  ///
  /// For a square, it is the side. For other shapes, it is a length that suits both flat and narrow pictures.
  static func unit(of size: PixelSize) -> Double {
    let (width, height) = (Double(size.width), Double(size.height))
    return min((width * height).squareRoot(), min(width, height) * 1.25)
  }

  /// Lays out the lines, one below the other, and places them on a picture of `size`.
  func set(_ moment: StampTime, size: PixelSize) throws(LarderError) -> Block {
    let locale: StampLocale
    if let chosen = self.locale { locale = chosen } else { locale = try StampLocale("en") }
    let typesetter = try Typesetter(
      family: font.map { "\($0), \(fontFamily)" } ?? fontFamily,
      language: locale.language
    )
    let unit = Self.unit(of: size)
    let margin = unit * 0.06
    let room = max(Double(size.width) - 2 * margin, 1)
    var lines: [TextLine] = []
    var (width, height) = (0.0, 0.0)
    func add(_ text: String, _ size: Double, isBold: Bool = true) throws(LarderError) {
      var size = max(size, 1)
      // A line of the template is made smaller if it is too wide. The user's own text is cut instead.
      let limit = isBold ? nil : room
      var line = try typesetter.line(text, size: size, bold: isBold, limit: limit)
      if isBold, line.ink.width > room {
        size = max(size * room / line.ink.width, 1)
        line = try typesetter.line(text, size: size, bold: isBold, limit: limit)
      }
      let ink = line.ink
      if !lines.isEmpty { height += size * 0.55 }
      (line.x, line.y) = (-ink.x, height - ink.y)
      lines.append(line)
      height += ink.height
      width = max(width, ink.width)
    }
    let wanted =
      template?.lines(moment.civil, locale)
      ?? [(locale.time(moment.civil), true), (locale.date(moment.civil), false)]
    for line in wanted { try add(line.text, unit * (line.isClock ? 0.16 : 0.064)) }
    if let text, !text.isEmpty { try add(text, unit * 0.05, isBold: false) }
    /// The position of a box of `length` pixels on a side of the picture.
    func along(_ isNear: Bool, _ isFar: Bool, _ side: Int, _ length: Double) -> Double {
      let side = Double(side)
      return isNear ? margin : isFar ? side - margin - length : (side - length) / 2
    }
    let left = along(place.isLeft, place.isRight, size.width, width)
    let top = along(place.isTop, place.isBottom, size.height, height)
    for line in lines {
      let spare = width - line.ink.width
      line.x += left + (place.isLeft ? 0 : place.isRight ? spare : spare / 2)
      line.y += top
    }
    return Block(lines: lines, left: left, top: top, width: width, height: height)
  }

  /// The scrim behind the text; nil for the style `plain`.
  func veil(_ block: Block, size: PixelSize) -> StampVeil? {
    let unit = Self.unit(of: size)
    let pad = unit * 0.015
    let rows = block.top - pad...block.top + block.height + pad
    switch style {
    case .plain: return nil
    case .scrim:
      let columns = block.left - pad...block.left + block.width + pad
      return StampVeil(columns: columns, rows: rows, fade: unit * 0.05)
    case .bar:
      // The bar is dark up to the edge of the picture that is near the text. On its other side, it fades into the
      // picture.
      let top = place.isTop ? 0 : rows.lowerBound
      let bottom = place.isBottom ? Double(size.height) : rows.upperBound
      let even = top...max(top, bottom)
      return StampVeil(columns: 0...Double(size.width), rows: even, fade: unit * 0.16)
    }
  }
}

/// The form in which a stamp is sent to a worker process: everything except the clock, because each process has its
/// own.
extension Stamp: Codable {
  enum CodingKeys: CodingKey, CaseIterable {
    case crop, time, zone, localZone, locale, template, style, text, logo, place, font, fontFamily
  }
}
