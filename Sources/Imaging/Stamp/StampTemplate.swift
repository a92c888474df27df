import Base

/// A template for the text of a stamp: lines with fields for the time.
///
///     let template = try StampTemplate(#"{time}\n{weekday}, {date}"#)
public struct StampTemplate: Sendable, Equatable, Codable {
  private let lines: [String]

  /// Reads a template.
  ///
  /// - Parameter template: A text with the fields `{time}` (in the locale's format), `{time12}`, `{time24}`, `{date}`
  ///   and `{weekday}`. Another line starts at `\n` or at a line break. A line that consists of one time field gets
  ///   larger letters.
  /// - Throws: ``LarderError`` of code `usage` for an unknown field, a brace that is not closed, or an empty text.
  public init(_ template: String) throws(LarderError) {
    let fields = FieldTemplate(template: template, purpose: "stamp")
    _ = try fields.tail(behind: ["{time}", "{time12}", "{time24}", "{date}", "{weekday}"])
    lines = template.split(separator: "\n")
      .flatMap { $0.split(separator: "\\n").map(String.init) }
    if lines.isEmpty { throw fields.refusal("it is empty; try {time} {date}") }
  }

  /// The lines for a time.
  ///
  /// `isClock` says that a line consists of one time field.
  func lines(_ time: CivilTime, _ locale: StampLocale) -> [(text: String, isClock: Bool)] {
    let clocks = [
      "{time}": locale.time(time), "{time12}": locale.time(time, hours: 12),
      "{time24}": locale.time(time, hours: 24),
    ]
    let dates = ["{date}": locale.day(time), "{weekday}": locale.weekday(time)]
    return lines.map { line in
      let text = clocks.merging(dates) { $1 }
        .reduce(line) { $0.replacing($1.key, with: $1.value) }
      return (text, clocks[line] != nil)
    }
  }
}

/// The format of dates and times in a language and a country.
public struct StampLocale: Sendable, Equatable, Codable {
  /// The language by which fonts are chosen, for example `ko`.
  let language: String
  /// The country, for example `US`; empty if there is none.
  private let region: String
  private let words: Words

  /// The words and the formats of a language.
  private struct Words: Sendable, Equatable, Codable {
    /// The format of a date; `{y}`, `{m}`, `{d}` and `{month}` stand for its parts.
    let day: String
    /// The formats of the morning and the afternoon hours of a clock with twelve hours, whose time replaces `{}`.
    let halves: [String]
    /// The names of the days of the week, beginning with Sunday.
    let weekdays: [String]
    /// The names of the months; empty if the months are numbers.
    let months: [String]

    init(_ fields: [String]) {
      func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
      (day, halves) = (fields[1], Array(fields[2...3]))
      (weekdays, months) = (words(fields[4]), words(fields[5]))
    }
  }

  /// The language, the date, the two halves of the day, the weekdays and the months of each language.
  private static let table = """
    de|{d}. {month} {y}|{} AM|{} PM|So Mo Di Mi Do Fr Sa|\
    Januar Februar März April Mai Juni Juli August September Oktober November Dezember
    en|{d} {month} {y}|{} AM|{} PM|Sun Mon Tue Wed Thu Fri Sat|\
    January February March April May June July August September October November December
    es|{d} de {month} de {y}|{} a. m.|{} p. m.|dom lun mar mié jue vie sáb|\
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    fr|{d} {month} {y}|{} AM|{} PM|dim. lun. mar. mer. jeu. ven. sam.|\
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    it|{d} {month} {y}|{} AM|{} PM|dom lun mar mer gio ven sab|\
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    ja|{y}年{m}月{d}日|午前{}|午後{}|日 月 火 水 木 金 土|
    ko|{y}년 {m}월 {d}일|오전 {}|오후 {}|일 월 화 수 목 금 토|
    pt|{d} de {month} de {y}|{} AM|{} PM|dom. seg. ter. qua. qui. sex. sáb.|\
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    zh|{y}年{m}月{d}日|上午{}|下午{}|周日 周一 周二 周三 周四 周五 周六|
    """

  private static let words: [String: Words] = {
    let rows = table.split(separator: "\n").map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Words($0)) })
  }()

  /// The supported languages.
  public static let languages: [String] = words.keys.sorted()

  /// Reads an identifier such as `ko_KR`, `ko-KR`, `ko_KR.UTF-8` or `ko`.
  ///
  /// `C` means English.
  ///
  /// - Throws: ``LarderError`` of code `time` for an unsupported language.
  public init(_ identifier: String) throws(LarderError) {
    let language = identifier.prefix { $0.isLetter }.lowercased()
    self.language = ["c", "posix"].contains(language) ? "en" : language
    region =
      identifier.prefix { $0 != "." && $0 != "@" }
      .split { $0 == "_" || $0 == "-" }.dropFirst()
      .first { $0.count == 2 }?.uppercased() ?? ""
    guard let words = Self.words[self.language] else {
      throw LarderError(
        .time,
        "cannot write dates in \(identifier): the supported languages are "
          + Self.languages.joined(separator: ", ")
      )
    }
    self.words = words
  }

  /// Whether dates begin with the weekday and the month.
  private var isMonthFirst: Bool { language == "en" && ["US", "PH", "CA"].contains(region) }

  private var hasTwelveHours: Bool {
    switch language {
    case "en": isMonthFirst || ["AU", "NZ", "IN"].contains(region)
    case "es": ["US", "MX", "CO"].contains(region)
    default: false
    }
  }

  /// The date and the weekday, for example `2021년 1월 13일 (수)`.
  public func date(_ time: CivilTime) -> String {
    isMonthFirst ? "\(weekday(time)), \(day(time))" : "\(day(time)) (\(weekday(time)))"
  }

  /// The date without the weekday, for example `January 12, 2021`.
  public func day(_ time: CivilTime) -> String {
    (isMonthFirst ? "{month} {d}, {y}" : words.day)
      .replacing("{y}", with: "\(time.year)")
      .replacing("{m}", with: "\(time.month)")
      .replacing("{d}", with: "\(time.day)")
      .replacing("{month}", with: words.months.isEmpty ? "" : words.months[time.month - 1])
  }

  /// The weekday, for example `Tue`.
  public func weekday(_ time: CivilTime) -> String { words.weekdays[time.weekday] }

  /// The time of day in the locale's format, for example `06:30` or `6:30 AM`.
  ///
  /// - Parameters:
  ///   - time: The time.
  ///   - hours: 12 or 24 to use a clock with that many hours. Pass nil to use the locale's own clock.
  /// - Returns: The time as text.
  public func time(_ time: CivilTime, hours: Int? = nil) -> String {
    guard hours == 12 || (hours == nil && hasTwelveHours) else {
      return "\(padded(time.hour)):\(padded(time.minute))"
    }
    let half = words.halves[time.hour < 12 ? 0 : 1]
    let form = ["AU", "NZ", "IN"].contains(region) && language == "en" ? half.lowercased() : half
    return form.replacing("{}", with: "\((time.hour + 11) % 12 + 1):\(padded(time.minute))")
  }
}
