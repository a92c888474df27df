import Base
import FoundationEssentials
import Glibc
import SystemPackage

/// Makes a square, or another part, of a picture and writes the time, date and weekday on it.
///
///     var stamp = Stamp(crop: Crop(size: 1080))
///     stamp.locale = try StampLocale("ko_KR")
///     stamp.zone = try Zone(named: "Asia/Seoul")
///     let picture = try stamp.apply(to: PictureFile("morning.jpg"))
///     print(picture.time?.description ?? "", picture.time?.source.rawValue ?? "")
///
/// The letters are sized in proportion to the picture. The pixels under them are measured: the
/// letters are black or white, with a scrim behind them as far as they need it to stand out 7 to
/// 1.
public struct Stamp: PictureMaking {
  /// The crop to stamp.
  ///
  /// `lossless` has no effect, as pixels change. With `.contain` and no frame it is the whole
  /// picture, in its own shape.
  public var crop: Crop
  /// Which time to show.
  public var time: StampTime.Choice
  /// The zone to show it in; nil for the offset that the time came with, else `localZone`.
  public var zone: Zone?
  /// The zone of times that came without one.
  public var localZone: Zone
  /// How the date is written.
  public var locale: StampLocale?
  /// The text; nil for the time and, under it, the date with its weekday.
  public var template: StampTemplate?
  /// How letters are set off from the picture.
  public var style = StampStyle.bar
  /// A line under the date.
  public var text: String?
  /// A PNG or JPEG for the corner across from the text.
  public var logo: PictureFile?
  /// Where the text goes; `attention` is the middle.
  public var place: Gravity
  /// A family that has to be installed, and is tried before the others.
  public var font: String?
  /// The font families to try, in order.
  public var fontFamily: String
  /// A fontconfig file to use instead of the system's.
  public var fontConfiguration: FilePath?
  /// The clock, in seconds since 1970.
  public var now: @Sendable () -> Int

  /// The limits of a picture.
  public var limits: PictureLimits { crop.limits }

  /// Makes a stamp of the time that a picture was taken; set the properties that should differ.
  ///
  /// - Parameters:
  ///   - crop: The square to stamp.
  ///   - time: Which time to show.
  public init(crop: Crop = Crop(), time: StampTime.Choice = .exif) {
    self.crop = crop
    self.time = time
    localZone = .local
    place = .bottomLeft
    fontFamily = "NanumSquare, NanumGothic, Noto Sans, Sans"
    now = { Glibc.time(nil) }
  }

  /// Judges the crop and the font.
  public func check() throws(LarderError) {
    try crop.check()
    if let font { try Typesetter.check(font, configuration: fontConfiguration) }
  }

  /// The stamp of one picture: of all of it where nothing says otherwise.
  private func framed(for file: PictureFile) -> Self {
    var stamp = self
    if crop.fit == .contain, crop.frame == nil {
      stamp.crop.frame = PixelSize(width: file.probe.width, height: file.probe.height)
    }
    return stamp
  }

  /// Stamps a picture, as ``apply(to:)`` does.
  public func make(from file: PictureFile) throws(LarderError) -> EncodedPicture {
    try apply(to: file)
  }

  /// Stamps a picture that becomes a file; a large PNG waits there, not in memory.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(LarderError) -> EncodedPicture {
    var stamp = self
    stamp.crop.output = PictureOutput(output)
    return try stamp.apply(to: file)
  }

  /// Stamps a picture.
  ///
  /// - Parameter file: The input. Inks become light; 16 bits and alpha stay where the format has
  /// them.
  /// - Returns: The stamped picture, with the time that it shows.
  /// - Throws: ``ImagingError`` when the picture cannot be read, has no such time, or there is no
  /// font.
  public func apply(to file: PictureFile) throws(LarderError) -> EncodedPicture {
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
    var picture = try stamp.crop.made(from: file, stamping: (stamp, moment))
    picture.time = moment
    return picture
  }
}

extension Stamp {
  /// Lines in their places, and the box around them.
  struct Block {
    var lines: [PlacedLine]
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// The unit of letters and margins: the side of a square, and for other pictures a length that
  /// suits both short and narrow ones.
  static func unit(of size: PixelSize) -> Double {
    let (width, height) = (Double(size.width), Double(size.height))
    return min((width * height).squareRoot(), min(width, height) * 1.25)
  }

  /// The lines that are to be set, and whether each is a clock.
  private func wanted(
    _ moment: StampTime,
    _ locale: StampLocale
  ) -> [(text: String, isClock: Bool)] {
    template?.lines(moment.civil, locale)
      ?? [(locale.time(moment.civil), true), (locale.date(moment.civil), false)]
  }

  /// Sets the lines one under the other and places them on a picture of `size`.
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
    // The date is as heavy as the clock.
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

  /// The scrim behind a block; nil where letters stand alone.
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
      // Dark as far as the edge that the text is near, and eased into the picture on the other side.
      let top = place.isTop ? 0 : rows.lowerBound
      let bottom = place.isBottom ? Double(size.height) : rows.upperBound
      let even = top...max(top, bottom)
      return StampVeil(columns: 0...Double(size.width), rows: even, fade: unit * 0.16)
    }
  }
}

/// A stamp as it goes to a process that draws it: everything but the clock, which each process has.
extension Stamp: Codable {
  enum CodingKeys: CodingKey, CaseIterable {
    case crop, time, zone, localZone, locale, template, style, text, logo, place, font, fontFamily
    case fontConfiguration
  }

  private struct Logo: Codable {
    let name: String
    let bytes: Data
  }

  /// Reads a stamp; its clock is the system's.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      crop: try object.decode(Crop.self, forKey: .crop),
      time: try object.decode(StampTime.Choice.self, forKey: .time)
    )
    zone = try object.decodeIfPresent(Zone.self, forKey: .zone)
    localZone = try object.decode(Zone.self, forKey: .localZone)
    locale = try object.decodeIfPresent(StampLocale.self, forKey: .locale)
    template = try object.decodeIfPresent(StampTemplate.self, forKey: .template)
    style = try object.decode(StampStyle.self, forKey: .style)
    text = try object.decodeIfPresent(String.self, forKey: .text)
    if let logo = try object.decodeIfPresent(Logo.self, forKey: .logo) {
      self.logo = try PictureFile(Array(logo.bytes), name: logo.name)
    }
    place = try object.decode(Gravity.self, forKey: .place)
    font = try object.decodeIfPresent(String.self, forKey: .font)
    fontFamily = try object.decode(String.self, forKey: .fontFamily)
    fontConfiguration = try object.decodeIfPresent(String.self, forKey: .fontConfiguration)
      .map { FilePath($0) }
  }

  /// Writes a stamp without its clock.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(crop, forKey: .crop)
    try object.encode(time, forKey: .time)
    try object.encodeIfPresent(zone, forKey: .zone)
    try object.encode(localZone, forKey: .localZone)
    try object.encodeIfPresent(locale, forKey: .locale)
    try object.encodeIfPresent(template, forKey: .template)
    try object.encode(style, forKey: .style)
    try object.encodeIfPresent(text, forKey: .text)
    try object.encodeIfPresent(
      logo.map { Logo(name: $0.name, bytes: Data($0.bytes)) },
      forKey: .logo
    )
    try object.encode(place, forKey: .place)
    try object.encodeIfPresent(font, forKey: .font)
    try object.encode(fontFamily, forKey: .fontFamily)
    try object.encodeIfPresent(fontConfiguration?.string, forKey: .fontConfiguration)
  }
}
