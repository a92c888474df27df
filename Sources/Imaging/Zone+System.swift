import Glibc
import SystemPackage

extension Zone {
  /// The zone of this name in the system's database, or a fixed offset such as `+09:00` or `Z`.
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
        "cannot find the time zone \(name): the system knows none of that name; "
          + "try one like Asia/Seoul or +09:00"
      )
    }
    self = zone
  }

  /// The zone that this machine's clock shows: `TZ`, else `/etc/localtime`, else Greenwich.
  ///
  /// - Parameter environment: The value of `TZ`, if it is set.
  /// - Returns: The zone.
  public static func local(environment: String? = getenv("TZ").map { String(cString: $0) }) -> Zone
  {
    if let name = environment, !name.isEmpty {
      let plain = name.hasPrefix(":") ? String(name.dropFirst()) : name
      if let zone = try? Zone(named: plain) { return zone }
    }
    return read("/etc/localtime").flatMap { Zone(tzif: $0) } ?? .utc
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
}
