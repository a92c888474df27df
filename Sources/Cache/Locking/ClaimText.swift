import Transport

/// What the file of a ``HostClaim`` says.
///
///     larder sync, process 4711 on pod-1
///     boot 3f2c…
///     claim 8f3a92bc01d4e5f6
///     since 1790000000
///     beat 0000000003 every 15 s
///     end
///
/// Older larders wrote the first line, or the first two. Whatever else a newer one writes, and a text that
/// was cut, has no heartbeat that this one knows, and is not taken over from another machine.
struct ClaimText: Equatable, Sendable {
  /// Who claims, and on which host; one line.
  var holder: String
  /// What the holder's kernel calls its boot; nil in claims of old larders.
  var boot: String?
  /// What tells the claim apart from every other, and how it is renewed; nil where there is no heartbeat.
  var pulse: Pulse?

  /// The heartbeat of a claim.
  struct Pulse: Equatable, Sendable {
    /// 16 hexadecimal digits, of this claim alone.
    var token: String
    /// When the claim was made, by the holder's clock; for people only.
    var since: UnixTime
    /// How often it was renewed.
    var beat = 0
    /// The seconds from one renewal to the next.
    var interval = Self.standardInterval

    /// The interval of this version's claims.
    static let standardInterval = 15

    /// Seconds without a renewal after which the holder counts as gone: eight renewals are missing then.
    var patience: Int64 { Int64(interval) * 8 }
  }

  private static let ending = "end"

  init(holder: String, boot: String?, pulse: Pulse?) {
    (self.holder, self.boot, self.pulse) = (holder, boot, pulse)
  }

  /// Reads a text; the holder is empty where it is.
  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    holder = lines.first.map(String.init) ?? ""
    guard lines.count > 1, lines[1].hasPrefix("boot "), lines[1].utf8.count > 5 else { return }
    boot = String(lines[1].dropFirst("boot ".count))
    guard lines.count == 7, lines[2].hasPrefix("claim "), lines[3].hasPrefix("since "),
      lines[5] == Self.ending, lines[6].isEmpty, let since = Int64(lines[3].dropFirst(6))
    else { return }
    let token = lines[2].dropFirst(6)
    let words = lines[4].split(separator: " ", omittingEmptySubsequences: false)
    guard token.utf8.count == 16, token.allSatisfy({ $0.isHexDigit && !$0.isUppercase }),
      words.count == 5, words[0] == "beat", words[2] == "every", words[4] == "s",
      let beat = Int(words[1]), let interval = Int(words[3]), beat >= 0,
      (1...3600).contains(interval)
    else { return }
    pulse = Pulse(token: String(token), since: UnixTime(since), beat: beat, interval: interval)
  }

  /// The text; of the same length for every beat, so that it is renewed in place.
  var text: String {
    guard let boot else { return holder }
    guard let pulse else { return "\(holder)\nboot \(boot)" }
    let beat = String(pulse.beat)
    let zeros = String(repeating: "0", count: max(0, 10 - beat.utf8.count))
    return [
      holder, "boot \(boot)", "claim \(pulse.token)", "since \(pulse.since.seconds)",
      "beat \(zeros)\(beat) every \(pulse.interval) s", Self.ending, "",
    ].joined(separator: "\n")
  }
}
