/// What a stamp says: lines of text with fields for the time.
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
  /// - Parameter template: Text with `{time}` as the locale has it, `{time12}`, `{time24}`, `{date}`
  ///   and `{weekday}`; `\n`, or a new line, begins another line. A line that is a time alone is as
  ///   large as a clock.
  /// - Throws: ``ImagingError`` of code `usage` for other fields, an open brace, or nothing at all.
  public init(_ template: String) throws(ImagingError) {
    var fields = FieldTemplate(template, for: "stamp")
    var lines: [[Part]] = [[]]
    while let piece = try fields.next() {
      switch piece {
      case .text(let text): Self.add(text, to: &lines)
      case .field(let name):
        guard let part = Self.fields[String(name)] else {
          throw fields.refusal(
            "{\(name)} stands for nothing; use {time}, {time12}, {time24}, {date} and {weekday}"
          )
        }
        lines[lines.count - 1].append(part)
      }
    }
    self.lines = lines.filter { !$0.isEmpty }
    if self.lines.isEmpty { throw fields.refusal("it is empty; try {time} {date}") }
  }

  /// Adds text, with the lines that it begins.
  private static func add(_ text: Substring, to lines: inout [[Part]]) {
    let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { $0.split(separator: "\\n", omittingEmptySubsequences: false) }
    for (place, row) in rows.enumerated() {
      if place > 0 { lines.append([]) }
      if !row.isEmpty { lines[lines.count - 1].append(.text(String(row))) }
    }
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
