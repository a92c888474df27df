/// A date and a time of day on somebody's wall, in the proleptic Gregorian calendar.
public struct CivilTime: Sendable, Equatable {
  /// The year.
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

  /// The date and the time of day as `2021-01-13 06:30:00`.
  public var text: String {
    "\(padded(year, 4))-\(padded(month))-\(padded(day)) "
      + "\(padded(hour)):\(padded(minute)):\(padded(second))"
  }

  /// Days since 1970-01-01.
  private var days: Int {
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The seconds since 1970 that these numbers would be at Greenwich.
  var seconds: Int { ((days * 24 + hour) * 60 + minute) * 60 + second }

  /// The wall clock at `seconds` since 1970, `offset` seconds east of Greenwich.
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

  /// Reads `2021:01:13 06:30:00` or `2021-01-13T06:30:00`; nil for a date that does not exist.
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

/// An offset from Greenwich as RFC 3339 and EXIF write it.
enum UTCOffset {
  /// Reads `+09:00`, `-03:30` or `Z`; seconds to the east.
  static func seconds(_ text: some StringProtocol) -> Int? {
    if text == "Z" || text == "z" { return 0 }
    let digits = Array(text.utf8)
    guard digits.count == 6, digits[0] == 43 || digits[0] == 45, digits[3] == 58,
      // Int takes a sign of its own: "++9:+5" is no offset.
      (digits[1..<3] + digits[4..<6]).allSatisfy({ (48...57).contains($0) }),
      let hours = Int(String(decoding: digits[1..<3], as: UTF8.self)),
      let minutes = Int(String(decoding: digits[4..<6], as: UTF8.self)), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (digits[0] == 45 ? -60 : 60)
  }

  /// Writes an offset.
  static func text(_ seconds: Int) -> String {
    guard seconds != 0 else { return "Z" }
    let minutes = abs(seconds) / 60
    return (seconds < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
  }
}

/// A number with at least `width` digits.
func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(width - digits.count, 0)) + digits
}
