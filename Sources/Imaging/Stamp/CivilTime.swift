import Base
import Glibc
import SystemPackage

/// A date and a time of day as a clock on the wall shows them, without a time zone.
///
/// Dates are those of the Gregorian calendar, also before it was introduced.
public struct CivilTime: Sendable, Equatable {
  /// The year, such as 2021.
  public var year: Int
  /// The month, from 1.
  public var month: Int
  /// The day of the month, from 1.
  public var day: Int
  /// The hour, 0 to 23.
  public var hour: Int
  /// The minute.
  public var minute: Int
  /// The second, 60 in a leap second.
  public var second: Int

  /// The day of the week, 0 for Sunday.
  public var weekday: Int { ((days + 4) % 7 + 7) % 7 }

  /// The date and the time of day, for example `2021-01-13 06:30:00`.
  public var text: String {
    "\(padded(year, 4))-\(padded(month))-\(padded(day)) "
      + "\(padded(hour)):\(padded(minute)):\(padded(second))"
  }

  /// The number of days since 1970-01-01.
  private var days: Int {
    // A year starts in March here, so that the leap day is the last day of its year.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The number of seconds since 1970, if this is a time in UTC.
  var seconds: Int { ((days * 24 + hour) * 60 + minute) * 60 + second }

  /// Makes the time that clocks show at `seconds` since 1970, in a zone that is `offset` seconds east of UTC.
  public init(seconds: Int, offset: Int) {
    let local = seconds + offset
    let days = Int((Double(local) / 86_400).rounded(.down))
    let rest = local - days * 86_400
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * march + 2) / 5 + 1
    month = march < 10 ? march + 3 : march - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
  }

  /// Reads a time such as `2021:01:13 06:30:00` or `2021-01-13T06:30:00`; nil for a date that does not exist.
  init?(_ text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 19 else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      digits[range].reduce(0 as Int?) { total, digit in
        guard let total, (48...57).contains(digit) else { return nil }
        return total * 10 + Int(digit - 48)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      year > 0, (1...12).contains(month), day >= 1, hour < 24, minute < 60, second <= 60,
      [4, 7].allSatisfy({ digits[$0] == 58 || digits[$0] == 45 }),
      digits[13] == 58, digits[16] == 58
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
    let round = CivilTime(seconds: days * 86_400, offset: 0)
    guard round.month == month, round.day == day else { return nil }
  }
}

/// Reads and writes an offset from UTC as RFC 3339 and EXIF do.
enum UTCOffset {
  /// Reads an offset such as `+09:00`, `-03:30` or `Z`, and returns it in seconds east of UTC; nil for other texts.
  static func seconds(_ text: some StringProtocol) -> Int? {
    if text == "Z" || text == "z" { return 0 }
    let digits = Array(text.utf8)
    guard digits.count == 6, digits[0] == 43 || digits[0] == 45, digits[3] == 58,
      // Int would accept another sign, so "++9:+5" would become an offset.
      (digits[1..<3] + digits[4..<6]).allSatisfy({ (48...57).contains($0) }),
      let hours = Int(String(decoding: digits[1..<3], as: UTF8.self)),
      let minutes = Int(String(decoding: digits[4..<6], as: UTF8.self)), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (digits[0] == 45 ? -60 : 60)
  }

  /// Writes an offset in seconds, for example `+09:00`.
  static func text(_ seconds: Int) -> String {
    guard seconds != 0 else { return "Z" }
    let minutes = abs(seconds) / 60
    return (seconds < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
  }
}

/// A number with at least `width` digits, for example `07`.
func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(width - digits.count, 0)) + digits
}

/// A time zone: how far its clocks are from UTC at any instant. (RFC 9636)
public struct Zone: Sendable, Equatable, Codable {
  /// The instants at which the offset changes, beginning with the earliest.
  private var changes: [Change] = []
  /// The offset before the first change.
  private var first = 0
  /// Whether this is the local time zone of the C library, which is used instead of `changes` and `first`.
  private var isLocal = false

  private struct Change: Equatable, Sendable, Codable {
    let instant: Int
    let offset: Int
  }

  /// UTC.
  public static let utc = Zone(offset: 0)

  /// The zone of this machine, which the C library takes from `TZ` or `/etc/localtime`.
  public static let local: Zone = {
    var zone = Zone(offset: 0)
    zone.isLocal = true
    return zone
  }()

  /// Makes a zone with a constant offset, in seconds east of UTC.
  public init(offset: Int) {
    first = offset
  }

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
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe = !parts.isEmpty && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
    guard isSafe, let bytes = Self.read(folder.appending(name)), let zone = Zone(tzif: bytes)
    else {
      throw LarderError(
        .time,
        "cannot find the time zone \(name): the system has no such "
          + "zone file that covers the years to 2037; try one like Asia/Seoul or +09:00"
      )
    }
    self = zone
  }

  private static func read(_ path: FilePath) -> [UInt8]? {
    let file = open(path.string, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    // The largest file of the database has a few thousand bytes.
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// The offset, in seconds east of UTC, at an instant in seconds since 1970.
  public func offset(at instant: Int) -> Int {
    if isLocal {
      var (time, parts) = (time_t(instant), tm())
      return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
    }
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].instant <= instant { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : changes[low - 1].offset
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

  /// Reads the bytes of a TZif file, the format of the database.
  ///
  /// The result is nil if the bytes are invalid. It is also nil if they do not list the changes until 2037, but leave
  /// them to the rule in the footer.
  public init?(tzif bytes: [UInt8]) {
    let parsed: Zone? = bytes.withUnsafeBufferPointer { bytes in
      let reader = ByteReader(bytes: bytes)
      guard let old = TZifHeader(reader, at: 0) else { return nil }
      if old.version < 2 { return Self.block(reader, old, wide: false) }
      // The first block has times of 32 bits, for old programs.
      guard let new = TZifHeader(reader, at: old.end(wide: false)),
        let zone = Self.block(reader, new, wide: true)
      else { return nil }
      // A comma in the footer precedes the dates of a rule for yearly changes. (RFC 9636, section 3.3)
      let changes = bytes.dropFirst(new.end(wide: true) + 1).contains(UInt8(ascii: ","))
      return changes && zone.lastChange < Self.year2037 ? nil : zone
    }
    guard let parsed else { return nil }
    self = parsed
  }

  private static let year2037 = 2_114_380_800

  private var lastChange: Int { changes.last?.instant ?? .min }

  private static func block(_ reader: ByteReader, _ header: TZifHeader, wide: Bool) -> Zone? {
    let timeBytes = wide ? 8 : 4
    let kinds = header.start + header.times * timeBytes
    let types = kinds + header.times
    func offset(_ kind: Int) -> Int? {
      kind < header.types
        ? reader.long(types + kind * 6).map { Int(Int32(truncatingIfNeeded: $0)) } : nil
    }
    guard let first = offset(0) else { return nil }
    var zone = Zone(offset: first)
    for index in 0..<header.times {
      let place = header.start + index * timeBytes
      guard let high = reader.long(place), let kind = reader.byte(kinds + index),
        let offset = offset(kind)
      else { return nil }
      var instant = Int(Int32(truncatingIfNeeded: high))
      if wide {
        guard let low = reader.long(place + 4) else { return nil }
        instant = instant << 32 | low
      }
      zone.changes.append(Change(instant: instant, offset: offset))
    }
    return zone
  }
}

/// The counts at the start of a TZif block. (RFC 9636, section 3.1)
private struct TZifHeader {
  let version: Int
  let start: Int
  let times: Int
  let types: Int
  private let characters: Int
  private let leaps: Int
  private let standards: Int
  private let universals: Int

  init?(_ reader: ByteReader, at offset: Int) {
    guard reader.matches("TZif", at: offset), let version = reader.byte(offset + 4),
      let universals = reader.long(offset + 20), let standards = reader.long(offset + 24),
      let leaps = reader.long(offset + 28), let times = reader.long(offset + 32),
      let types = reader.long(offset + 36), let characters = reader.long(offset + 40)
    else { return nil }
    self.version = version == 0 ? 1 : version - 48
    self.start = offset + 44
    (self.universals, self.standards, self.leaps) = (universals, standards, leaps)
    (self.times, self.types, self.characters) = (times, types, characters)
  }

  func end(wide: Bool) -> Int {
    let bytes = wide ? 8 : 4
    return start + times * (bytes + 1) + types * 6 + characters + leaps * (bytes + 4) + standards
      + universals
  }
}
