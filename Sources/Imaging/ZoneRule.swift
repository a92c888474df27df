/// The rule by which a zone goes on for ever: a POSIX TZ string. (RFC 9636, section 3.3.1)
struct ZoneRule: Equatable, Sendable, Codable {
  private var standard = 0
  private var summer: Summer?

  private struct Summer: Equatable, Codable {
    var offset: Int
    var start: Turn
    var end: Turn
  }

  /// A moment of every year: seconds of its day, on a day.
  private struct Turn: Equatable, Codable {
    enum Day: Equatable, Codable {
      /// The day of the year from 1, never counting February 29.
      case julian(Int)
      /// The day of the year from 0.
      case ordinal(Int)
      /// A weekday of a week of a month; week 5 is the last.
      case weekday(month: Int, week: Int, day: Int)
    }
    var day: Day
    var seconds = 7200

    /// The wall clock's seconds in `year`.
    func seconds(in year: Int) -> Int {
      let newYear = CivilTime(year: year, month: 1, day: 1)
      switch day {
      case .julian(let day):
        let leap = CivilTime(year: year, month: 3, day: 1).seconds - newYear.seconds > 59 * 86_400
        return newYear.seconds + (day - 1 + (leap && day >= 60 ? 1 : 0)) * 86_400 + seconds
      case .ordinal(let day):
        return newYear.seconds + day * 86_400 + seconds
      case .weekday(let month, let week, let day):
        let first = CivilTime(year: year, month: month, day: 1)
        let next = CivilTime(
          year: month == 12 ? year + 1 : year,
          month: month == 12 ? 1 : month + 1,
          day: 1
        )
        let length = (next.seconds - first.seconds) / 86_400
        var place = (day - first.weekday + 7) % 7 + (week - 1) * 7
        if place >= length { place -= 7 }
        return first.seconds + place * 86_400 + seconds
      }
    }
  }

  /// Seconds east of Greenwich at `instant`.
  func offset(at instant: Int) -> Int {
    guard let summer else { return standard }
    let year = CivilTime(seconds: instant, offset: standard).year
    let start = summer.start.seconds(in: year) - standard
    let end = summer.end.seconds(in: year) - summer.offset
    let isSummer =
      start < end ? instant >= start && instant < end : instant >= start || instant < end
    return isSummer ? summer.offset : standard
  }

  /// Reads a rule like `CET-1CEST,M3.5.0,M10.5.0/3`; nil when it is none.
  init?(_ text: String) {
    var rest = Substring(text)
    guard Self.skipName(&rest), let west = Self.time(&rest) else { return nil }
    standard = -west
    guard !rest.isEmpty else { return }
    guard Self.skipName(&rest) else { return nil }
    let offset = rest.first == "," ? standard + 3600 : Self.time(&rest).map { -$0 }
    guard let offset, rest.popFirst() == ",", let start = Self.turn(&rest),
      rest.popFirst() == ",", let end = Self.turn(&rest)
    else { return nil }
    summer = Summer(offset: offset, start: start, end: end)
  }

  private static func skipName(_ rest: inout Substring) -> Bool {
    if rest.first == "<" {
      guard let end = rest.firstIndex(of: ">") else { return false }
      rest = rest[rest.index(after: end)...]
      return true
    }
    let name = rest.prefix { $0.isLetter }
    rest = rest.dropFirst(name.count)
    return name.count >= 3
  }

  private static func number(_ rest: inout Substring) -> Int? {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest.dropFirst(digits.count)
    return digits.count <= 4 ? Int(digits) : nil
  }

  private static func time(_ rest: inout Substring) -> Int? {
    let sign = rest.first == "-" ? -1 : 1
    if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
    guard var total = number(&rest).map({ $0 * 3600 }) else { return nil }
    for unit in [60, 1] where rest.first == ":" {
      rest.removeFirst()
      guard let part = number(&rest) else { return nil }
      total += part * unit
    }
    return sign * total
  }

  private static func turn(_ rest: inout Substring) -> Turn? {
    var turn: Turn
    switch rest.first {
    case "M":
      rest.removeFirst()
      guard let month = number(&rest), rest.popFirst() == ".", let week = number(&rest),
        rest.popFirst() == ".", let day = number(&rest), (1...12).contains(month),
        (1...5).contains(week), day < 7
      else { return nil }
      turn = Turn(day: .weekday(month: month, week: week, day: day))
    case "J":
      rest.removeFirst()
      guard let day = number(&rest) else { return nil }
      turn = Turn(day: .julian(day))
    default:
      guard let day = number(&rest) else { return nil }
      turn = Turn(day: .ordinal(day))
    }
    if rest.first == "/" {
      rest.removeFirst()
      guard let seconds = time(&rest) else { return nil }
      turn.seconds = seconds
    }
    return turn
  }
}

extension CivilTime {
  /// Midnight at the beginning of a day.
  fileprivate init(year: Int, month: Int, day: Int) {
    self.init(seconds: 0, offset: 0)
    (self.year, self.month, self.day) = (year, month, day)
  }
}
