import Base

/// The time on a stamp, and where it came from.
public struct StampTime: Sendable, Equatable, Codable, CustomStringConvertible {
  /// Where the time on a stamp came from.
  public enum Source: String, Sendable, Codable {
    /// The picture's metadata.
    case exif
    /// The time at which the file was last written.
    case file
    /// The time of the system's clock.
    case now
    /// The caller, who gave the time.
    case given
  }

  /// The choice of the time that a stamp shows.
  public enum Choice: Sendable, Equatable, Codable {
    /// The time in the picture's metadata.
    ///
    /// It is an error if the picture has no such time.
    case exif
    /// The time at which the file was last written.
    ///
    /// It is an error if the picture has no such time.
    case file
    /// The time of the system's clock.
    case now
    /// An instant in seconds since 1970.
    ///
    /// It is shown `offset` seconds east of UTC, unless the stamp has a zone.
    case given(instant: Int, offset: Int)

    /// Reads `exif`, `file`, `now` or a time such as `2021-01-13T06:30:00+09:00` (RFC 3339).
    ///
    /// - Throws: ``LarderError`` of code `time` for anything else.
    public init(_ text: String) throws(LarderError) {
      switch text {
      case "exif": self = .exif
      case "file": self = .file
      case "now": self = .now
      default:
        let separators = [10, 16].compactMap { text.utf8.dropFirst($0).first }
        guard let time = TakenTime(date: text), let offset = time.offset,
          ["T:", "t:", " :"].contains(String(decoding: separators, as: UTF8.self))
        else {
          throw LarderError(
            .time,
            "cannot read the time \(text): it is not RFC 3339; "
              + "write it like 2021-01-13T06:30:00+09:00"
          )
        }
        self = .given(instant: time.civil.seconds - offset, offset: offset)
      }
    }
  }

  /// The instant, in seconds since 1970.
  public let instant: Int
  /// The offset at which the time is shown, in seconds east of UTC.
  public let offset: Int
  /// Where the time came from.
  public let source: Source

  /// The date and the time of day that are shown.
  public var civil: CivilTime { CivilTime(seconds: instant, offset: offset) }

  /// The time as RFC 3339, for example `2021-01-13T06:30:00+09:00`.
  public var description: String {
    civil.text.replacing(" ", with: "T") + UTCOffset.text(offset)
  }

  /// Chooses the time on a picture's stamp.
  ///
  /// - Parameters:
  ///   - stamp: The stamp, with the requested time, its zones and its clock.
  ///   - taken: The time in the picture's metadata; nil if there is none.
  ///   - modified: When the file was last written, in seconds since 1970; nil if the picture is not from a file.
  ///   - name: The name of the picture in errors.
  /// - Throws: ``LarderError`` of code `time` when the picture lacks the requested time.
  init(
    _ stamp: Stamp,
    taken: TakenTime? = nil,
    modified: Int? = nil,
    name: String
  ) throws(LarderError) {
    let (zone, local) = (stamp.zone, stamp.localZone)
    // The offset that the time itself has.
    var own: Int?
    switch stamp.time {
    case .given(let instant, let offset): (self.instant, own, source) = (instant, offset, .given)
    case .exif:
      guard let taken else {
        throw LarderError(
          .undated,
          "cannot stamp \(name): it has no date taken (EXIF, XMP or GPS)",
          remedy: .otherTime
        )
      }
      own = taken.offset
      instant = own.map { taken.civil.seconds - $0 } ?? (zone ?? local).instant(of: taken.civil)
      source = .exif
    case .file:
      guard let modified else {
        throw LarderError(
          .time,
          "cannot stamp \(name): it has no modification time",
          remedy: .presentTime
        )
      }
      (instant, source) = (modified, .file)
    case .now: (instant, source) = (stamp.now(), .now)
    }
    offset = zone?.offset(at: instant) ?? own ?? local.offset(at: instant)
  }
}

/// The time at which a picture was taken, according to its metadata.
struct TakenTime: Equatable {
  /// The time that clocks showed where the picture was taken.
  let civil: CivilTime
  /// The offset of these clocks, in seconds east of UTC; nil if it is unknown.
  let offset: Int?

  /// Finds the time in EXIF data; nil if there is no valid time.
  init?(_ exif: Exif?) {
    guard let exif, let civil = exif.dateTime.flatMap({ CivilTime($0) }) else { return nil }
    self.civil = civil
    offset = exif.offset.flatMap { UTCOffset.seconds($0) }
  }

  /// Finds the time in an XMP packet, where the time is an attribute or an element. (XMP part 2, sections 2.1 and 3.3)
  init?(xmp packet: [UInt8]) {
    for key in ["exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"] {
      for (before, after) in [
        ("=\"", UInt8(ascii: "\"")), ("='", UInt8(ascii: "'")), (">", UInt8(ascii: "<")),
      ] {
        guard let start = packet.firstRange(of: Array((key + before).utf8))?.upperBound,
          let end = packet[start...].firstIndex(of: after),
          let time = TakenTime(
            date: String(decoding: packet[start..<end].prefix(40), as: UTF8.self)
          )
        else { continue }
        self = time
        return
      }
    }
    return nil
  }

  /// Finds the time of a GPS receiver in EXIF data; it is in UTC.
  init?(satellites exif: Exif?) {
    guard let civil = exif?.gpsTime else { return nil }
    (self.civil, offset) = (civil, 0)
  }

  /// Reads a time such as `2021-01-13T06:30`; it can also have seconds, a fraction and an offset. (ISO 8601)
  fileprivate init?(date text: String) {
    var rest = text[...]
    var clock = String(rest.prefix(16))
    rest = rest.dropFirst(16)
    if rest.first == ":" {
      clock += rest.prefix(3)
      rest = rest.dropFirst(3)
    } else {
      clock += ":00"
    }
    if rest.first == "." { rest = rest.dropFirst().drop { $0.isASCII && $0.isNumber } }
    guard let civil = CivilTime(clock) else { return nil }
    self.civil = civil
    offset = UTCOffset.seconds(rest)
  }
}

extension PictureFile {
  /// When the picture was taken, according to its EXIF fields, its XMP packet, or its GPS time, in this order.
  ///
  /// The time at which the file was changed, EXIF's `DateTime`, is used only if there is no other one.
  var taken: TakenTime? {
    let own = TakenTime(probe.exif)
    if let own, probe.exif?.isChangeTime == false { return own }
    return TakenTime(xmp: probe.structure.xmp) ?? TakenTime(satellites: probe.exif)
      ?? own
  }
}
