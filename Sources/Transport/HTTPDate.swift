/// Dates as header fields write them. (RFC 9110, section 5.6.7)
extension UnixTime {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  /// Reads an IMF-fixdate, an RFC 850 date or an asctime date, each letter for letter but for its case; whether
  /// the day's name is that of the day is not checked.
  ///
  /// Anything else is no date, which for `Expires` means one in the past. (RFC 9111, section 5.3)
  /// `now` settles the century of a two-digit year: more than 50 years ahead means the past.
  package init?(httpDate text: String, now: UnixTime) {
    var text = text
    let moment: UnixTime? = text.withUTF8 { text in
      var (low, high) = (0, text.count)
      while low < high, text[low].isBlank { low += 1 }
      while high > low, text[high - 1].isBlank { high -= 1 }
      return DateText(UnsafeBufferPointer(rebasing: text[low..<high])).moment(now)
    }
    guard let moment else { return nil }
    self = moment
  }

  /// The moment as an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; years are clamped to 0...9999.
  package var httpDate: String {
    let clamped = min(max(seconds, -62_167_219_200), 253_402_300_799)
    let dayNumber = clamped.flooredDivision(by: 86_400)
    let second = clamped - dayNumber * 86_400
    let (year, month, day) = Self.civil(fromDays: dayNumber)
    let dayName = Self.days[Int(dayNumber - dayNumber.flooredDivision(by: 7) * 7)]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let four = String(repeating: "0", count: 4 - "\(year)".count) + "\(year)"
    return "\(dayName), \(two(day)) \(Self.months[Int(month - 1)]) \(four) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  /// The moment of a date in UTC and a second of its day; nil when there is no such date.
  package static func moment(
    _ year: Int64,
    _ month: Int64,
    _ day: Int64,
    _ second: Int64
  ) -> UnixTime? {
    guard (1...31).contains(day) else { return nil }
    let dayNumber = days(fromCivil: year, month, day)
    // The 31st of a short month is no date.
    guard civil(fromDays: dayNumber).day == day else { return nil }
    return UnixTime(dayNumber * 86_400 + second)
  }

  /// Days since 1970 in the proleptic Gregorian calendar, counted in eras of 400 years from 1 March 0000.
  fileprivate static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredDivision(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  fileprivate static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

/// The bytes of a date, read by their places.
private struct DateText {
  private let text: UnsafeBufferPointer<UInt8>

  init(_ text: UnsafeBufferPointer<UInt8>) {
    self.text = text
  }

  func moment(_ now: UnixTime) -> UnixTime? {
    switch text.count {
    case 29 where isDayName(0..<3): fixdate
    case 24 where isDayName(0..<3): asctime
    case 30...33: rfc850(now)
    default: nil
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  private var fixdate: UnixTime? {
    guard has(", ", at: 3), has(" ", at: 7), has(" ", at: 11), has(" ", at: 16),
      has(" gmt", at: 25), let day = number(5..<7), let month = month(8),
      let year = number(12..<16), let second = timeOfDay(17)
    else { return nil }
    return .moment(year, month, day, second)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`.
  private func rfc850(_ now: UnixTime) -> UnixTime? {
    let start = text.count - 24
    guard isLongDayName(0..<start), has(", ", at: start), has("-", at: start + 4),
      has("-", at: start + 8), has(" ", at: start + 11), has(" gmt", at: start + 20),
      let day = number(start + 2..<start + 4), let month = month(start + 5),
      let digits = number(start + 9..<start + 11), let second = timeOfDay(start + 12)
    else { return nil }
    let today = now.civilDay
    var year = today.year - today.year % 100 + digits
    if year <= today.year - 50 { year += 100 }
    // More than 50 years ahead is the most recent such year in the past. (RFC 9110, section 5.6.7)
    // No date has five digits for its year.
    if (year - 50, month, day) > today || year > 9999 { year -= 100 }
    return .moment(year, month, day, second)
  }

  /// `Sun Nov  6 08:49:37 1994`.
  private var asctime: UnixTime? {
    guard has(" ", at: 3), has(" ", at: 7), has(" ", at: 10), has(" ", at: 19),
      let month = month(4), let day = has(" ", at: 8) ? number(9..<10) : number(8..<10),
      let second = timeOfDay(11), let year = number(20..<24)
    else { return nil }
    return .moment(year, month, day, second)
  }

  private func has(_ word: StaticString, at place: Int) -> Bool {
    let part = text[place..<place + word.utf8CodeUnitCount]
    return UnsafeBufferPointer(rebasing: part).equalsIgnoringCase(word)
  }

  private func number(_ places: Range<Int>) -> Int64? {
    var value: Int64 = 0
    for place in places {
      guard text[place].isDigit else { return nil }
      value = value * 10 + Int64(text[place] - UInt8(ascii: "0"))
    }
    return value
  }

  private func timeOfDay(_ place: Int) -> Int64? {
    guard has(":", at: place + 2), has(":", at: place + 5), let hour = number(place..<place + 2),
      let minute = number(place + 3..<place + 5), let second = number(place + 6..<place + 8),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    // A leap second is the next minute's first.
    return hour * 3600 + minute * 60 + second
  }

  /// Three letters as one number, in lower case: a date is read for each response.
  private func letters(_ place: Int) -> UInt32 {
    UInt32(text[place].asciiLowercased) << 16 | UInt32(text[place + 1].asciiLowercased) << 8
      | UInt32(text[place + 2].asciiLowercased)
  }

  private func month(_ place: Int) -> Int64? {
    switch letters(place) {
    case 0x6A_616E: 1
    case 0x66_6562: 2
    case 0x6D_6172: 3
    case 0x61_7072: 4
    case 0x6D_6179: 5
    case 0x6A_756E: 6
    case 0x6A_756C: 7
    case 0x61_7567: 8
    case 0x73_6570: 9
    case 0x6F_6374: 10
    case 0x6E_6F76: 11
    case 0x64_6563: 12
    default: nil
    }
  }

  private func isDayName(_ places: Range<Int>) -> Bool {
    let found = letters(places.lowerBound)
    return Self.dayNames.contains(found)
  }

  /// `sun`, `mon` and so on as numbers.
  private static let dayNames: [UInt32] = [
    0x73_756E, 0x6D_6F6E, 0x74_7565, 0x77_6564, 0x74_6875, 0x66_7269, 0x73_6174,
  ]

  private func isLongDayName(_ places: Range<Int>) -> Bool {
    let name = UnsafeBufferPointer(rebasing: text[places])
    return Self.longDayNames.contains { name.equalsIgnoringCase($0) }
  }

  private static let longDayNames: [StaticString] = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
}

extension UnixTime {
  /// The day in UTC.
  fileprivate var civilDay: (year: Int64, month: Int64, day: Int64) {
    Self.civil(fromDays: min(max(seconds, 0), 253_402_300_799) / 86_400)
  }
}

extension Int64 {
  /// Division that rounds down, for a positive divisor.
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }
}
