import Base
import Glibc
import SystemPackage

/// A date and a time of day as a clock on the wall shows them, without a time zone.
///
/// Dates are those of the Gregorian calendar, also before it was introduced.
public struct CivilTime: Sendable, Equatable {
  /// The moment at which clocks in UTC show this time.
  private let utc: UnixTime

  private var parts: tm {
    var (time, parts) = (time_t(utc.seconds), tm())
    gmtime_r(&time, &parts)
    return parts
  }

  /// The year, such as 2021.
  public var year: Int { Int(parts.tm_year) + 1900 }
  /// The month, from 1.
  public var month: Int { Int(parts.tm_mon) + 1 }
  /// The day of the month, from 1.
  public var day: Int { Int(parts.tm_mday) }
  /// The hour, 0 to 23.
  public var hour: Int { Int(parts.tm_hour) }
  /// The minute.
  public var minute: Int { Int(parts.tm_min) }
  /// The second.
  public var second: Int { Int(parts.tm_sec) }
  /// The day of the week, 0 for Sunday.
  public var weekday: Int { Int(parts.tm_wday) }

  /// The date and the time of day, for example `2021-01-13 06:30:00`.
  public var text: String { utc.text("%04Y-%m-%d %H:%M:%S") }

  /// The number of seconds since 1970, if this is a time in UTC.
  var seconds: Int { Int(utc.seconds) }

  /// Makes the time that clocks show at `seconds` since 1970, in a zone that is `offset` seconds east of UTC.
  public init(seconds: Int, offset: Int) {
    utc = UnixTime(Int64(seconds)) + Int64(offset)
  }

  /// Reads a time such as `2021:01:13 06:30:00` or `2021-01-13T06:30:00`; nil for a date that does not exist.
  ///
  /// A leap second, `:60`, becomes the first second of the next minute.
  init?(_ text: some StringProtocol) {
    let text = Array(text.utf8)
    let digits = text.split { !$0.isDigit }
    let numbers = digits.compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
    guard text.count == 19, digits.map(\.count) == [4, 2, 2, 2, 2, 2], numbers[0] > 0,
      [4, 7].allSatisfy({ text[$0] == UInt8(ascii: ":") || text[$0] == UInt8(ascii: "-") }),
      [13, 16].allSatisfy({ text[$0] == UInt8(ascii: ":") }),
      numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60,
      let utc = UnixTime.moment(
        numbers[0],
        numbers[1],
        numbers[2],
        (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
      )
    else { return nil }
    self.utc = utc
  }
}

/// Reads and writes an offset from UTC as RFC 3339 and EXIF do.
enum UTCOffset {
  /// Reads an offset such as `+09:00`, `-03:30` or `Z`, and returns it in seconds east of UTC; nil for other texts.
  static func seconds(_ text: some StringProtocol) -> Int? {
    if text == "Z" || text == "z" { return 0 }
    let (sign, digits) = (text.utf8.first, text.utf8.dropFirst().split { !$0.isDigit })
    let numbers = digits.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    // The sizes are checked, so that neither "++9:+5" nor "+9:00" is an offset.
    guard text.utf8.count == 6, text.utf8.dropFirst(3).first == UInt8(ascii: ":"),
      sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
      digits.map(\.count) == [2, 2], numbers[0] < 24, numbers[1] < 60
    else { return nil }
    return (numbers[0] * 60 + numbers[1]) * (sign == UInt8(ascii: "-") ? -60 : 60)
  }

  /// Writes an offset in seconds, for example `+09:00`.
  static func text(_ seconds: Int) -> String {
    guard seconds != 0 else { return "Z" }
    let minutes = abs(seconds) / 60
    return (seconds < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
  }
}

/// A number with at least two digits, for example `07`.
func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

/// A time zone: how far its clocks are from UTC at any instant. (RFC 9636)
public struct Zone: Sendable, Equatable, Codable {
  /// The offset, in seconds east of UTC, that is in force from `instant` on.
  private struct Change: Equatable, Sendable, Codable {
    let instant: Int
    let offset: Int
  }

  /// The offsets, beginning with the one before all changes, which has the earliest possible instant.
  ///
  /// It is empty for the local time zone of the C library.
  private var changes: [Change]

  /// UTC.
  public static let utc = Zone(offset: 0)

  /// The zone of this machine, which the C library takes from `TZ` or `/etc/localtime`.
  public static let local = Zone(changes: [])

  private init(changes: [Change]) { self.changes = changes }

  /// Makes a zone with a constant offset, in seconds east of UTC.
  public init(offset: Int) { changes = [Change(instant: .min, offset: offset)] }

  /// Reads a zone from the system's database, or a constant offset such as `+09:00` or `Z`.
  ///
  /// After the last change in the zone's file, the offset stays the same. So if the clocks of a zone still change every
  /// year, its file must list the changes until 2037.
  ///
  /// - Parameters:
  ///   - name: A name in the IANA database, such as `Asia/Seoul`, or an offset.
  ///   - folder: The folder of the database.
  /// - Throws: ``LarderError`` of code `time` when there is no such zone.
  public init(
    named name: String,
    in folder: FilePath = "/usr/share/zoneinfo"
  ) throws(LarderError) {
    if let offset = UTCOffset.seconds(name) {
      self.init(offset: offset)
      return
    }
    let isSafe = name.split(separator: "/", omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
    guard isSafe, let bytes = try? PictureInput.bytes(of: folder.appending(name), PictureLimits()),
      let zone = Zone(tzif: bytes)
    else {
      throw LarderError(
        .time,
        "cannot find the time zone \(name): the system has no such "
          + "zone file that covers the years to 2037; try one like Asia/Seoul or +09:00"
      )
    }
    self = zone
  }

  /// The offset, in seconds east of UTC, at an instant in seconds since 1970.
  public func offset(at instant: Int) -> Int {
    if let change = changes.last(where: { $0.instant <= instant }) { return change.offset }
    var (time, parts) = (time_t(instant), tm())
    return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
  }

  /// The instant, in seconds since 1970, at which the clocks of the zone show `time`.
  ///
  /// If they show it twice, it is the earlier instant.
  public func instant(of time: CivilTime) -> Int {
    let guess = time.seconds
    let offsets = Set([offset(at: guess - 86_400), offset(at: guess + 86_400)])
    let fitting = offsets.map { guess - $0 }.filter { $0 + offset(at: $0) == guess }
    return fitting.min() ?? guess - offset(at: guess - 86_400)
  }

  /// Reads the bytes of a TZif file, the format of the database, of version 2 or later.
  ///
  /// The result is nil if the bytes are invalid. It is also nil if they do not list the changes until 2037, but leave
  /// them to the rule in the footer.
  public init?(tzif bytes: [UInt8]) {
    let changes: [Change]? = bytes.withUnsafeBufferPointer { bytes in
      let reader = ByteReader(bytes: bytes)
      // The first block has times of 32 bits, for old programs.
      guard let old = TZifBlock(reader, at: 0, timeBytes: 4),
        let block = TZifBlock(reader, at: old.end, timeBytes: 8)
      else { return nil }
      let kinds = block.start + block.times * 8
      var changes: [Change] = []
      for index in -1..<block.times {
        let place = block.start + index * 8
        // The first type is in force before all changes.
        guard let kind = index < 0 ? 0 : reader.byte(kinds + index), kind < block.types,
          let offset = reader.long(kinds + block.times + kind * 6),
          let high = index < 0 ? 1 << 31 : reader.long(place),
          let low = index < 0 ? 0 : reader.long(place + 4)
        else { return nil }
        changes.append(
          Change(
            instant: Int(Int32(truncatingIfNeeded: high)) << 32 | low,
            offset: Int(Int32(truncatingIfNeeded: offset))
          )
        )
      }
      // A comma in the footer precedes the dates of a rule for yearly changes. (RFC 9636, section 3.3)
      let hasRule = bytes.dropFirst(block.end + 1).contains(UInt8(ascii: ","))
      return hasRule && changes[block.times].instant < Self.year2037 ? nil : changes
    }
    guard let changes else { return nil }
    self.changes = changes
  }

  private static let year2037 = 2_114_380_800
}

/// The place and the size of a block of a TZif file. (RFC 9636, section 3.1)
private struct TZifBlock {
  /// The place of the times of changes, behind the header.
  let start: Int
  /// The number of changes.
  let times: Int
  /// The number of types, which have an offset each.
  let types: Int
  /// The place behind the block.
  let end: Int

  /// Reads the header of the block at `place`, whose times have `timeBytes` bytes.
  init?(_ reader: ByteReader, at place: Int, timeBytes: Int) {
    // The counts are of UTC indicators, standard time indicators, leap seconds, times, types, and characters.
    let counts = (0..<6).compactMap { reader.long(place + 20 + 4 * $0) }
    guard reader.matches("TZif", at: place), counts.count == 6 else { return nil }
    (start, times, types) = (place + 44, counts[3], counts[4])
    let sizes = [1, 1, timeBytes + 4, timeBytes + 1, 6, 1]
    end = start + zip(counts, sizes).reduce(0) { $0 + $1.0 * $1.1 }
  }
}
