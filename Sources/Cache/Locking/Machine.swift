import Glibc
import Transport

/// What a claim has to know of the machine it is made on.
struct Machine: Sendable {
  /// The host's name.
  var host = Machine.hostName
  /// What the kernel calls its boot; empty when it does not tell.
  var boot = PartialBody.boot
  /// Seconds of a clock that counts from that boot and never goes back.
  var monotonic: @Sendable () -> Int64 = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec)
  }
  /// The wall clock, for people.
  var now: @Sendable () -> UnixTime = { UnixTime(Int64(time(nil))) }
  /// Sixteen hexadecimal digits that nobody else has.
  var token: @Sendable () -> String = {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// A holder's line without the name of this machine, which says nothing to who reads it here.
  static func withoutHost(_ text: String) -> String {
    text.hasSuffix(" on \(hostName)") ? String(text.dropLast(" on \(hostName)".count)) : text
  }

  /// This machine's name.
  static let hostName: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "an unknown host" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()
}
