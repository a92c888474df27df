import Base
import Glibc
import SystemPackage

/// Makes a square, or another crop, of a picture, and writes the time, date and weekday on it.
///
///     var stamp = Stamp(crop: Crop(size: 1080))
///     stamp.locale = try StampLocale("ko_KR")
///     stamp.zone = try Zone(named: "Asia/Seoul")
///     let picture = try stamp.apply(to: PictureFile("morning.jpg"))
///     print(picture.time?.description ?? "", picture.time?.source.rawValue ?? "")
///
/// The letters are sized in proportion to the picture. They are black or white, depending on the pixels under them. A
/// scrim, a translucent layer behind the letters, is made strong enough for a contrast of 7:1.
public struct Stamp: PictureMaking {
  /// The crop to stamp.
  ///
  /// `lossless` has no effect, because pixels change. With `.contain` and no frame, the whole picture is stamped in its
  /// own shape.
  public var crop: Crop
  /// The time to show.
  public var time: StampTime.Choice
  /// The zone in which the time is shown; nil for the time's own offset, or for `localZone` if the time has none.
  public var zone: Zone?
  /// The zone to which times without an offset belong.
  public var localZone: Zone
  /// The language and format of the date.
  public var locale: StampLocale?
  /// The text; nil for the time with the date and weekday below it.
  public var template: StampTemplate?
  /// How the letters are set off from the picture.
  public var style = StampStyle.bar
  /// Another line of text, under the date.
  public var text: String?
  /// A PNG or JPEG, drawn in the corner diagonally opposite the text.
  public var logo: PictureFile?
  /// The position of the text; `attention` means the middle.
  public var place: Gravity
  /// A font family that must be installed, and is tried before `fontFamily`.
  public var font: String?
  /// The font families to try, in order.
  public var fontFamily: String
  /// A fontconfig file to use instead of the system's.
  public var fontConfiguration: FilePath?
  /// Returns the present time, in seconds since 1970.
  public var now: @Sendable () -> Int = { Glibc.time(nil) }

  /// The limits of a picture.
  public var limits: PictureLimits { crop.limits }

  /// Makes a stamp of the time at which a picture was taken; set other properties afterwards.
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

  /// Checks the crop and the font.
  public func check() throws(LarderError) {
    try crop.check()
    if let font { try Typesetter.check(font, configuration: fontConfiguration) }
  }

  /// This stamp for one picture: if the crop is `.contain` without a frame, the picture's own size becomes the frame.
  private func framed(for file: PictureFile) -> Self {
    var stamp = self
    if crop.fit == .contain, crop.frame == nil {
      stamp.crop.frame = PixelSize(width: file.probe.width, height: file.probe.height)
    }
    return stamp
  }

  /// Stamps a picture for an output file; a large PNG is written to a temporary file, not held in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    try apply(to: file, opening: PartFile.opening(output))
  }

  /// Stamps a picture.
  ///
  /// - Parameter file: The input. CMYK becomes RGB; 16 bits and alpha are kept if the format has them.
  /// - Returns: The stamped picture, with the time that it shows.
  /// - Throws: ``LarderError`` when the picture cannot be read or lacks the requested time, or there is no font.
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
    let moment = try StampTime(
      time,
      taken: file.taken,
      modified: file.modified,
      zone: zone,
      local: localZone,
      now: now(),
      name: file.name
    )
    let stamp = framed(for: file)
    var picture = try stamp.crop.made(from: file, opening: open, stamping: (stamp, moment))
    picture.summary.time = moment
    return picture
  }
}

extension Stamp {
  /// The lines of a stamp with their positions, and the box around them.
  struct Block {
    var lines: [PlacedLine]
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// The length by which letters and margins are scaled: the side of a square, or for other shapes a length that suits
  /// both flat and narrow pictures.
  static func unit(of size: PixelSize) -> Double {
    let (width, height) = (Double(size.width), Double(size.height))
    return min((width * height).squareRoot(), min(width, height) * 1.25)
  }

  /// The lines to write; a line marked as a clock gets larger letters.
  private func wanted(
    _ moment: StampTime,
    _ locale: StampLocale
  ) -> [(text: String, isClock: Bool)] {
    template?.lines(moment.civil, locale)
      ?? [(locale.time(moment.civil), true), (locale.date(moment.civil), false)]
  }

  /// Lays out the lines one below the other, and places them on a picture of `size`.
  func set(_ moment: StampTime, size: PixelSize) throws(LarderError) -> Block {
    let locale: StampLocale
    if let chosen = self.locale { locale = chosen } else { locale = try StampLocale("en") }
    let typesetter = try Typesetter(
      family: font.map { "\($0), \(fontFamily)" } ?? fontFamily,
      language: locale.language,
      configuration: fontConfiguration
    )
    let unit = Self.unit(of: size)
    let margin = unit * 0.06
    let room = max(Double(size.width) - 2 * margin, 1)
    var lines: [PlacedLine] = []
    var height = 0.0
    var width = 0.0
    func add(
      _ text: String,
      _ wanted: Double,
      isBold: Bool,
      isCut: Bool
    ) throws(LarderError) {
      var size = max(wanted, 1)
      var layout = try typesetter.line(text, size: size, bold: isBold, limit: isCut ? room : nil)
      if !isCut, layout.ink.width > room {
        size = max(size * room / layout.ink.width, 1)
        layout = try typesetter.line(text, size: size, bold: isBold, limit: nil)
      }
      let ink = layout.ink
      if !lines.isEmpty { height += size * 0.55 }
      lines.append(PlacedLine(layout: layout, size: size, x: -ink.x, y: height - ink.y))
      height += ink.height
      width = max(width, ink.width)
    }
    // The date is as bold as the clock.
    for line in wanted(moment, locale) {
      try add(line.text, unit * (line.isClock ? 0.16 : 0.064), isBold: true, isCut: false)
    }
    if let text, !text.isEmpty { try add(text, unit * 0.05, isBold: false, isCut: true) }
    let left = along(place.isLeft, place.isRight, Double(size.width), width, margin)
    let top = along(place.isTop, place.isBottom, Double(size.height), height, margin)
    for index in lines.indices {
      let spare = width - lines[index].layout.ink.width
      lines[index].x += left + (place.isLeft ? 0 : place.isRight ? spare : spare / 2)
      lines[index].y += top
    }
    return Block(lines: lines, left: left, top: top, width: width, height: height)
  }

  private func along(
    _ isNear: Bool,
    _ isFar: Bool,
    _ side: Double,
    _ length: Double,
    _ margin: Double
  ) -> Double {
    isNear ? margin : isFar ? side - margin - length : (side - length) / 2
  }

  /// The scrim behind a block; nil for the style `plain`.
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
      // The bar is dark up to the picture's edge near the text, and fades into the picture on its other side.
      let top = place.isTop ? 0 : rows.lowerBound
      let bottom = place.isBottom ? Double(size.height) : rows.upperBound
      let even = top...max(top, bottom)
      return StampVeil(columns: 0...Double(size.width), rows: even, fade: unit * 0.16)
    }
  }
}

/// The form in which a stamp is sent to a worker process: everything but the clock, which each process has.
extension Stamp: Codable {
  enum CodingKeys: CodingKey, CaseIterable {
    case crop, time, zone, localZone, locale, template, style, text, logo, place, font, fontFamily
    case fontConfiguration
  }
}
