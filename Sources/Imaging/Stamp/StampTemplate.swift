import Base

/// A template for the text of a stamp: lines with fields for the time.
///
///     let template = try StampTemplate(#"{time}\n{weekday}, {date}"#)
public struct StampTemplate: Sendable, Equatable, Codable {
  private enum Part: Equatable, Codable {
    case text(String)
    case time, clock12, clock24, date, weekday
  }

  private static let fields: [String: Part] = [
    "time": .time, "time12": .clock12, "time24": .clock24, "date": .date, "weekday": .weekday,
  ]

  private let lines: [[Part]]

  /// Reads a template.
  ///
  /// - Parameter template: A text with the fields `{time}` (in the locale's format), `{time12}`, `{time24}`, `{date}`
  ///   and `{weekday}`. Another line starts at `\n` or at a line break. A line that consists of one time field gets
  ///   larger letters.
  /// - Throws: ``LarderError`` of code `usage` for an unknown field, a brace that is not closed, or an empty text.
  public init(_ template: String) throws(LarderError) {
    var fields = FieldTemplate(template, for: "stamp")
    var lines: [[Part]] = [[]]
    while let piece = try fields.next() {
      switch piece {
      case .text(let text): Self.add(text, to: &lines)
      case .field(let name):
        guard let part = Self.fields[String(name)] else {
          throw fields.refusal(
            "there is no field {\(name)}; use {time}, {time12}, {time24}, {date} and {weekday}"
          )
        }
        lines[lines.count - 1].append(part)
      }
    }
    self.lines = lines.filter { !$0.isEmpty }
    if self.lines.isEmpty { throw fields.refusal("it is empty; try {time} {date}") }
  }

  /// Adds a text; each line break in it starts another line.
  private static func add(_ text: Substring, to lines: inout [[Part]]) {
    let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { $0.split(separator: "\\n", omittingEmptySubsequences: false) }
    for (place, row) in rows.enumerated() {
      if place > 0 { lines.append([]) }
      if !row.isEmpty { lines[lines.count - 1].append(.text(String(row))) }
    }
  }

  /// The lines for a time.
  ///
  /// `isClock` says that a line consists of one time field.
  func lines(_ time: CivilTime, _ locale: StampLocale) -> [(text: String, isClock: Bool)] {
    lines.map { parts in
      let text = parts.map { part in
        switch part {
        case .text(let text): text
        case .time: locale.time(time)
        case .clock12: locale.time(time, hours: 12)
        case .clock24: locale.time(time, hours: 24)
        case .date: locale.day(time)
        case .weekday: locale.weekday(time)
        }
      }.joined()
      return (text, parts.count == 1 && [.time, .clock12, .clock24].contains(parts[0]))
    }
  }
}

/// The format of dates and times in a language and a country.
public struct StampLocale: Sendable, Equatable, Codable {
  /// The language by which fonts are chosen, for example `ko`.
  let language: String
  private let pattern: [Part]
  private let months: [String]
  private let weekdays: [String]
  /// The words for AM and PM, and whether they precede the time.
  private let halves: Halves
  private let hasTwelveHours: Bool

  private enum Part: Equatable, Codable {
    case year, month, day, monthName, weekday
    case text(String)
  }

  /// The supported languages.
  public static let languages = ["de", "en", "es", "fr", "it", "ja", "ko", "pt", "zh"]

  /// Reads an identifier such as `ko_KR`, `ko-KR`, `ko_KR.UTF-8` or `ko`.
  ///
  /// `C` means English.
  ///
  /// - Throws: ``LarderError`` of code `time` for an unsupported language.
  public init(_ identifier: String) throws(LarderError) {
    let language = identifier.prefix { $0.isLetter }.lowercased()
    let dayFirst: [Part] = [.day, .text(" "), .monthName, .text(" "), .year]
    let region = Self.region(identifier)
    func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    let weekday: [Part] = [.text(" ("), .weekday, .text(")")]
    let eastern: [Part] = [.year, .text("年"), .month, .text("月"), .day, .text("日")]
    switch language == "c" || language == "posix" ? "en" : language {
    case "ko":
      pattern = [.year, .text("년 "), .month, .text("월 "), .day, .text("일")] + weekday
      months = []
      weekdays = words("일 월 화 수 목 금 토")
    case "ja":
      (pattern, months) = (eastern + weekday, [])
      weekdays = words("日 月 火 水 木 金 土")
    case "zh":
      (pattern, months) = (eastern + weekday, [])
      weekdays = words("周日 周一 周二 周三 周四 周五 周六")
    case "en":
      let isMonthFirst = ["US", "PH", "CA"].contains(region)
      pattern =
        isMonthFirst
        ? [.weekday, .text(", "), .monthName, .text(" "), .day, .text(", "), .year]
        : dayFirst + weekday
      months = words(
        "January February March April May June July August September October November December"
      )
      weekdays = words("Sun Mon Tue Wed Thu Fri Sat")
    case "de":
      pattern = [.day, .text(". "), .monthName, .text(" "), .year] + weekday
      months = words(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
      )
      weekdays = words("So Mo Di Mi Do Fr Sa")
    case "fr":
      pattern = dayFirst + weekday
      months = words(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
      )
      weekdays = words("dim. lun. mar. mer. jeu. ven. sam.")
    case "es":
      pattern =
        [.day, .text(" de "), .monthName, .text(" de "), .year] + weekday
      months = words(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
      )
      weekdays = words("dom lun mar mié jue vie sáb")
    case "pt":
      pattern =
        [.day, .text(" de "), .monthName, .text(" de "), .year] + weekday
      months = words(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
      )
      weekdays = words("dom. seg. ter. qua. qui. sex. sáb.")
    case "it":
      pattern = dayFirst + weekday
      months = words(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
          + "dicembre"
      )
      weekdays = words("dom lun mar mer gio ven sab")
    default:
      throw LarderError(
        .time,
        "cannot write dates in \(identifier): the supported languages are "
          + Self.languages.joined(separator: ", ")
      )
    }
    self.language = language == "c" || language == "posix" ? "en" : language
    hasTwelveHours =
      (language == "en" && ["US", "PH", "CA", "AU", "NZ", "IN"].contains(region))
      || (language == "es" && ["US", "MX", "CO"].contains(region))
    halves =
      switch language {
      case "ko": Halves(am: "오전 ", pm: "오후 ", isFirst: true)
      case "ja": Halves(am: "午前", pm: "午後", isFirst: true)
      case "zh": Halves(am: "上午", pm: "下午", isFirst: true)
      case "es": Halves(am: " a. m.", pm: " p. m.", isFirst: false)
      case "en" where ["AU", "NZ", "IN"].contains(region):
        Halves(am: " am", pm: " pm", isFirst: false)
      default: Halves(am: " AM", pm: " PM", isFirst: false)
      }
  }

  private struct Halves: Equatable, Codable {
    let am: String
    let pm: String
    let isFirst: Bool
  }

  /// The country in an identifier, for example `US`; empty if there is none.
  private static func region(_ identifier: String) -> String {
    identifier.prefix { $0 != "." && $0 != "@" }
      .split { $0 == "_" || $0 == "-" }.dropFirst()
      .first { $0.count == 2 }?.uppercased() ?? ""
  }

  /// The date and the weekday, for example `2021년 1월 13일 (수)`.
  public func date(_ time: CivilTime) -> String { text(pattern, time) }

  /// The date without the weekday, for example `January 12, 2021`.
  public func day(_ time: CivilTime) -> String {
    // Each pattern has the weekday at one end, together with its punctuation.
    guard let place = pattern.firstIndex(of: .weekday) else { return text(pattern, time) }
    return place < 2
      ? text(Array(pattern.dropFirst(place + 2)), time)
      : text(Array(pattern.prefix(place - 1)), time)
  }

  /// The weekday, for example `Tue`.
  public func weekday(_ time: CivilTime) -> String { weekdays[time.weekday] }

  private func text(_ pattern: [Part], _ time: CivilTime) -> String {
    pattern.map { part in
      switch part {
      case .year: String(time.year)
      case .month: String(time.month)
      case .day: String(time.day)
      case .monthName: months[time.month - 1]
      case .weekday: weekdays[time.weekday]
      case .text(let text): text
      }
    }.joined()
  }

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
    let half = time.hour < 12 ? halves.am : halves.pm
    let clock = "\((time.hour + 11) % 12 + 1):\(padded(time.minute))"
    return halves.isFirst ? half + clock : clock + half
  }
}
