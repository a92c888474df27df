/// Dates as header fields write them. (RFC 9110, section 5.6.7)
extension UnixTime {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  /// Reads an IMF-fixdate, an RFC 850 date or an asctime date; the day's name is not checked.
  ///
  /// `now` settles the century of a two-digit year: more than 50 years ahead means the past.
  public init?(httpDate text: String, now: UnixTime) {
    var text = text
    if let moment = text.withUTF8(Self.fixdate) {
      self = moment
      return
    }
    var scanner = ByteScanner(text)
    scanner.skipBlanks()
    let dayName = scanner.take(while: \.isTokenCharacter)
    guard dayName.count >= 3 else { return nil }
    let parsed =
      scanner.skip(UInt8(ascii: ",")) ? Self.dated(&scanner, now) : Self.asctime(&scanner)
    scanner.skipBlanks()
    guard let parsed, scanner.isAtEnd else { return nil }
    self = parsed
  }

  /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, as nearly every server writes it, by its places; nil when it is
  /// anything else, which may be a date all the same.
  private static func fixdate(_ text: UnsafeBufferPointer<UInt8>) -> UnixTime? {
    guard text.count == 29, text[3] == UInt8(ascii: ","), text[4] == 0x20, text[7] == 0x20,
      text[11] == 0x20, text[16] == 0x20, text[19] == UInt8(ascii: ":"),
      text[22] == UInt8(ascii: ":"), text[25] == 0x20, text[26] == UInt8(ascii: "G"),
      text[27] == UInt8(ascii: "M"), text[28] == UInt8(ascii: "T"),
      text[0].isTokenCharacter, text[1].isTokenCharacter, text[2].isTokenCharacter
    else { return nil }
    func number(_ places: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for place in places {
        guard text[place].isDigit else { return nil }
        value = value * 10 + Int64(text[place] - UInt8(ascii: "0"))
      }
      return value
    }
    guard let day = number(5..<7), let month = month(text[8], text[9], text[10]),
      let year = number(12..<16), let hour = number(17..<19), let minute = number(20..<22),
      let second = number(23..<25), hour < 24, minute < 60, second <= 60
    else { return nil }
    return moment(year, month, day, hour * 3600 + minute * 60 + second)
  }

  /// The moment as an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; years are clamped to 0...9999.
  public var httpDate: String {
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

  /// ` 06 Nov 1994 08:49:37 GMT` or ` 06-Nov-94 08:49:37 GMT`.
  private static func dated(_ scanner: inout ByteScanner, _ now: UnixTime) -> UnixTime? {
    scanner.skipBlanks()
    guard let day = scanner.number() else { return nil }
    let isOld = scanner.skip(UInt8(ascii: "-"))
    scanner.skipBlanks()
    guard let month = month(&scanner) else { return nil }
    if isOld, !scanner.skip(UInt8(ascii: "-")) { return nil }
    scanner.skipBlanks()
    let yearDigits = scanner.take(while: \.isDigit)
    guard yearDigits.count == 4 || yearDigits.count == 2 else { return nil }
    var year = Int64(saturatingDigits: yearDigits)
    if yearDigits.count == 2 { year = century(of: year, now) }
    scanner.skipBlanks()
    guard let second = timeOfDay(&scanner) else { return nil }
    scanner.skipBlanks()
    guard scanner.skip(word: "GMT") || scanner.skip(word: "UTC") else { return nil }
    return moment(year, month, day, second)
  }

  /// ` Nov  6 08:49:37 1994`.
  private static func asctime(_ scanner: inout ByteScanner) -> UnixTime? {
    scanner.skipBlanks()
    guard let month = month(&scanner) else { return nil }
    scanner.skipBlanks()
    guard let day = scanner.number() else { return nil }
    scanner.skipBlanks()
    guard let second = timeOfDay(&scanner) else { return nil }
    scanner.skipBlanks()
    let yearDigits = scanner.take(while: \.isDigit)
    guard yearDigits.count == 4 else { return nil }
    return moment(Int64(saturatingDigits: yearDigits), month, day, second)
  }

  private static func month(_ scanner: inout ByteScanner) -> Int64? {
    let name = scanner.take { $0.isTokenCharacter && $0 != 0x2D }
    let first = name.startIndex
    return name.count == 3 ? month(name[first], name[first + 1], name[first + 2]) : nil
  }

  private static func month(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int64? {
    // Three letters as one number, in lower case: a date is read for each response.
    switch UInt32(first.asciiLowercased) << 16 | UInt32(second.asciiLowercased) << 8
      | UInt32(third.asciiLowercased)
    {
    case 0x6A_616E: return 1
    case 0x66_6562: return 2
    case 0x6D_6172: return 3
    case 0x61_7072: return 4
    case 0x6D_6179: return 5
    case 0x6A_756E: return 6
    case 0x6A_756C: return 7
    case 0x61_7567: return 8
    case 0x73_6570: return 9
    case 0x6F_6374: return 10
    case 0x6E_6F76: return 11
    case 0x64_6563: return 12
    default: return nil
    }
  }

  private static func timeOfDay(_ scanner: inout ByteScanner) -> Int64? {
    guard let hour = scanner.number(), scanner.skip(UInt8(ascii: ":")),
      let minute = scanner.number(), scanner.skip(UInt8(ascii: ":")),
      let second = scanner.number(), hour < 24, minute < 60, second <= 60
    else { return nil }
    // A leap second is the next minute's first.
    return hour * 3600 + minute * 60 + second
  }

  private static func century(of year: Int64, _ now: UnixTime) -> Int64 {
    let present = civil(fromDays: min(max(now.seconds, 0), 253_402_300_799) / 86_400).year
    let candidate = present - present % 100 + year
    if candidate > present + 50 { return candidate - 100 }
    return candidate
  }

  private static func moment(
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
  private static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredDivision(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

extension Int64 {
  /// Division that rounds down, for a positive divisor.
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }
}
