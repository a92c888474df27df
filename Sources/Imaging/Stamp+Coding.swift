import FoundationEssentials
import SystemPackage

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
