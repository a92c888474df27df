import Glibc
import SystemPackage

/// A time zone: how far its clocks are from Greenwich at any instant. (RFC 9636)
public struct Zone: Sendable, Equatable, Codable {
  /// The instants from which on an offset holds, in order.
  private var changes: [Change] = []
  /// The offset before the first change.
  private var first = 0
  /// Whether the C library is asked instead.
  private var isLocal = false

  private struct Change: Equatable, Sendable, Codable {
    let instant: Int
    let offset: Int
  }

  /// Greenwich itself.
  public static let utc = Zone(offset: 0)

  /// The zone of this machine's clock, as the C library reads it from `TZ` or `/etc/localtime`.
  public static let local: Zone = {
    var zone = Zone(offset: 0)
    zone.isLocal = true
    return zone
  }()

  /// A zone that never changes.
  public init(offset: Int) {
    first = offset
  }

  /// The zone of this name in the system's database, or a fixed offset such as `+09:00` or `Z`.
  ///
  /// Its last offset holds beyond the changes that its file lists. They end in 2037 where clocks change for ever.
  ///
  /// - Parameters:
  ///   - name: A name of the IANA database: `Asia/Seoul`.
  ///   - folder: Where the database is.
  /// - Throws: ``ImagingError`` of code `time` when there is no such zone.
  public init(
    named name: String,
    in folder: FilePath = "/usr/share/zoneinfo"
  ) throws(ImagingError) {
    if let offset = UTCOffset.seconds(name) {
      self.init(offset: offset)
      return
    }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe = !parts.isEmpty && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") }
    guard isSafe, let bytes = Self.read(folder.appending(name)), let zone = Zone(tzif: bytes)
    else {
      throw ImagingError(
        .time,
        "cannot find the time zone \(name): the system has no file of that name that lists its "
          + "changes until 2037; try one like Asia/Seoul or +09:00"
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

  /// Seconds east of Greenwich at `instant`, in seconds since 1970.
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

  /// The instant at which the zone's clocks show `time`; the first one when they show it twice.
  public func instant(of time: CivilTime) -> Int {
    let guess = time.seconds
    let offsets = Set([offset(at: guess - 86_400), offset(at: guess + 86_400)])
    let fitting = offsets.map { guess - $0 }.filter { $0 + offset(at: $0) == guess }
    return fitting.min() ?? guess - offset(at: guess - 86_400)
  }

  /// Reads a TZif file's bytes; nil when they are none, or leave changes before 2037 to the footer's rule.
  public init?(tzif bytes: [UInt8]) {
    let parsed: Zone? = bytes.withUnsafeBufferPointer { bytes in
      let reader = ByteReader(bytes: bytes)
      guard let old = TZifHeader(reader, at: 0) else { return nil }
      if old.version < 2 { return Self.block(reader, old, wide: false) }
      // What came before was for readers of 32 bits.
      guard let new = TZifHeader(reader, at: old.end(wide: false)),
        let zone = Self.block(reader, new, wide: true)
      else { return nil }
      // A comma begins the dates of a rule by which clocks change each year. (RFC 9636, section 3.3)
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

/// The counts that a TZif block begins with. (RFC 9636, section 3.1)
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
