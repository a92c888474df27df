/// What a stamp says: lines of text with fields for the time.
///
///     let template = try StampTemplate(#"{time}\n{weekday}, {date}"#)
public struct StampTemplate: Sendable, Equatable {
  private enum Part: Equatable {
    case text(String)
    case time, clock12, clock24, date, weekday
  }

  private static let fields: [String: Part] = [
    "time": .time, "time12": .clock12, "time24": .clock24, "date": .date, "weekday": .weekday,
  ]

  private let lines: [[Part]]

  /// Reads a template.
  ///
  /// - Parameter template: Text with `{time}` as the locale has it, `{time12}`, `{time24}`, `{date}`
  ///   and `{weekday}`; `\n`, or a new line, begins another line. A line that is a time alone is as
  ///   large as a clock.
  /// - Throws: ``ImagingError`` of code `usage` for other fields, an open brace, or nothing at all.
  public init(_ template: String) throws(ImagingError) {
    func refusal(_ reason: String) -> ImagingError {
      ImagingError(.usage, "cannot stamp \(template): \(reason)")
    }
    var lines: [[Part]] = [[]]
    var rest = template[...]
    while let first = rest.first {
      if first == "\n" || rest.hasPrefix("\\n") {
        lines.append([])
        rest = rest.dropFirst(first == "\n" ? 1 : 2)
      } else if first == "{" {
        guard let close = rest.firstIndex(of: "}") else {
          throw refusal("a brace is open; close it")
        }
        let name = String(rest[rest.index(after: rest.startIndex)..<close])
        guard let part = Self.fields[name] else {
          throw refusal(
            "{\(name)} stands for nothing; use {time}, {time12}, {time24}, {date} and {weekday}"
          )
        }
        lines[lines.count - 1].append(part)
        rest = rest[rest.index(after: close)...]
      } else {
        let text = rest.prefix { $0 != "{" && $0 != "\n" && $0 != "\\" }
        let taken = text.isEmpty ? rest.prefix(1) : text
        lines[lines.count - 1].append(.text(String(taken)))
        rest = rest.dropFirst(taken.count)
      }
    }
    self.lines = lines.filter { !$0.isEmpty }
    if self.lines.isEmpty { throw refusal("it is empty; try {time} {date}") }
  }

  /// The lines of a moment, and whether each is a clock.
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
