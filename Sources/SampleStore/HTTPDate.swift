/// Moments as HTTP writes them: whole seconds since 1970, in UTC. (RFC 9110, section 5.6.7)
///
/// The store's own, as all that it speaks: an origin that shared the parsers of its clients would share their mistakes.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int) -> String {
    let moment = Moment(seconds)
    return "\(days[modulo(moment.day, 7)]), \(two(moment.dayOfMonth)) "
      + "\(months[moment.month - 1]) \(four(moment.year)) "
      + "\(two(moment.hour)):\(two(moment.minute)):\(two(moment.second)) GMT"
  }

  /// `1994-11-06T08:49:37Z`. (RFC 3339)
  static func rfc3339(_ seconds: Int) -> String {
    let moment = Moment(seconds)
    return "\(four(moment.year))-\(two(moment.month))-\(two(moment.dayOfMonth))"
      + "T\(two(moment.hour)):\(two(moment.minute)):\(two(moment.second))Z"
  }

  /// Reads the preferred form; nil for the two obsolete ones, which a recipient may not ignore but
  /// which no client of this store sends.
  static func seconds(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", words[0].count == 4,
      let day = Int(words[1]), let month = months.firstIndex(of: String(words[2])),
      let year = Int(words[3])
    else { return nil }
    let clock = words[4].split(separator: ":").compactMap { Int($0) }
    guard clock.count == 3, (1...31).contains(day), clock.allSatisfy({ (0...60).contains($0) })
    else { return nil }
    let date = daysSince1970(year: year, month: month + 1, day: day)
    return date * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }

  /// The parts of a moment in the proleptic Gregorian calendar.
  private struct Moment {
    let day, year, month, dayOfMonth, hour, minute, second: Int

    init(_ seconds: Int) {
      let rest = modulo(seconds, 86_400)
      day = (seconds - rest) / 86_400
      (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
      // Years are counted from March, so that the leap day comes last, in eras of 400 years.
      let shifted = day + 719_468
      let dayOfEra = modulo(shifted, 146_097)
      let era = (shifted - dayOfEra) / 146_097
      let yearOfEra =
        (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let fromMarch = (5 * dayOfYear + 2) / 153
      dayOfMonth = dayOfYear - (153 * fromMarch + 2) / 5 + 1
      month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
      year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
  }

  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let yearOfEra = modulo(year, 400)
    let era = (year - yearOfEra) / 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func modulo(_ value: Int, _ divisor: Int) -> Int {
    let rest = value % divisor
    return rest < 0 ? rest + divisor : rest
  }

  private static func two(_ value: Int) -> String {
    value < 10 ? "0\(value)" : "\(value)"
  }

  private static func four(_ value: Int) -> String {
    String(repeating: "0", count: max(0, 4 - "\(value)".count)) + "\(value)"
  }
}
