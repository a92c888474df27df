import Transport

/// Reads the times of a store's documents.
enum StoreTime {
  /// The moment of a text as `2026-11-24T12:00:00.000Z`; nil when it is none.
  static func read(_ text: String) -> UnixTime? {
    let parts = text.split { !$0.isASCII || !$0.isNumber }.map { Int64($0) }
    guard text.hasSuffix("Z"), parts.count >= 6, let year = parts[0], let month = parts[1],
      let day = parts[2], let hour = parts[3], let minute = parts[4], let second = parts[5],
      (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    // Days from the civil calendar, with years that begin in March. (Howard Hinnant, "chrono-compatible date algorithms")
    let shifted = month > 2 ? year : year - 1
    let era = shifted / 400
    let ofEra = shifted - era * 400
    let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    return UnixTime(days * 86_400 + hour * 3600 + minute * 60 + second)
  }
}
