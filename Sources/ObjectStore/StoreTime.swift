import Transport

/// Reads the times of a store's documents.
enum StoreTime {
  /// The moment of a text as `2026-11-24T12:00:00.000Z`; nil when it is none.
  static func read(_ text: String) -> UnixTime? {
    let parts = text.split { !$0.isASCII || !$0.isNumber }.map { Int64($0) }
    guard text.hasSuffix("Z"), parts.count >= 6, let year = parts[0], let month = parts[1],
      let day = parts[2], let hour = parts[3], let minute = parts[4], let second = parts[5],
      (1970...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return .moment(year, month, day, hour * 3600 + minute * 60 + second)
  }
}
