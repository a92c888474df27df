import Transport

/// Since when each machine has seen the claim of another unchanged, as the file `lock.seen` keeps it.
///
/// Each by its own monotonic clock, so that no two clocks ever have to agree, and none has to be right.
/// Runs are short and refused at once: this is how the next one knows what the one before it saw. An
/// entry that is lost costs time, and nothing else.
struct ClaimWatch: Equatable, Sendable {
  /// A digest of what was seen.
  private var state = ""
  /// Seconds of the monotonic clock, by the name of the boot that the clock counts from.
  private var sightings: [(boot: String, seconds: Int64)] = []

  private static let heading = "larder watch 1"
  /// More machines than this do not wait for one cache.
  private static let most = 32

  static func == (left: ClaimWatch, right: ClaimWatch) -> Bool {
    left.text == right.text
  }

  /// Has seen nothing.
  init() {}

  /// Reads the file's text; nil unless it is whole to the byte, for a wrong number would take a cache
  /// from a run that is at work.
  init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count >= 4, lines[0] == Self.heading, lines.last == "" else { return nil }
    let body = lines.dropLast(2)
    guard lines[lines.count - 2] == Self.digest(body.joined(separator: "\n")) else { return nil }
    state = lines[1]
    for line in body.dropFirst(2) {
      let words = line.split(separator: " ")
      guard words.count == 2, let seconds = Int64(words[1]) else { return nil }
      sightings.append((String(words[0]), seconds))
    }
  }

  /// The file's text.
  var text: String {
    let body =
      ([Self.heading, state] + sightings.map { "\($0.boot) \($0.seconds)" })
      .joined(separator: "\n")
    return "\(body)\n\(Self.digest(body))\n"
  }

  /// Enters what is seen now.
  ///
  /// - Parameters:
  ///   - claim: all that is there of the claim, to the byte.
  ///   - boot: what this machine's kernel calls its boot.
  ///   - now: seconds of the clock that counts from it.
  /// - Returns: For how many seconds this machine has seen nothing else.
  mutating func see(_ claim: String, boot: String, at now: Int64) -> Int64 {
    let digest = Self.digest(claim)
    if digest != state { (state, sightings) = (digest, []) }
    if let index = sightings.firstIndex(where: { $0.boot == boot }) {
      // A clock that went back is another clock.
      if sightings[index].seconds <= now { return now - sightings[index].seconds }
      sightings[index].seconds = now
      return 0
    }
    sightings = sightings.suffix(Self.most - 1) + [(boot, now)]
    return 0
  }

  private static func digest(_ text: String) -> String {
    Hexadecimal.text(ContentDigest.sha256(Array(text.utf8)))
  }
}
