import Catalog
import Pipeline

/// What a catalog file reads and what looks wrong, as JSON and for people.
struct CheckDocument: Encodable {
  private struct Field: Encodable {
    var name: String
    var paths: [String]
    var items: Int
  }

  private struct Finding: Encodable {
    var code: String
    @OrNull var field: String?
    var count: Int
    var message: String
    var examples: [String]
  }

  private struct Section: Encodable {
    var key: String
    var title: String
    var url: String
    var items: Int
    var skipped: Int
    @OrNull var error: String?
    var fields: [Field]
    var findings: [Finding]
  }

  private let catalog: String
  private let sections: [Section]
  private let clean: Bool
  /// How the command ends.
  let status: ExitStatus

  private enum CodingKeys: String, CodingKey {
    case catalog, sections, clean
  }

  init(_ catalog: String, _ sources: [CatalogTrial.Source]) {
    self.catalog = catalog
    var sections: [Section] = []
    var failures: [ExitStatus] = []
    for source in sources {
      switch source.result {
      case .success(let checks): sections += checks.map { Self.section($0, source.url) }
      case .failure(let failure):
        failures.append(failure.status)
        sections.append(
          Section(
            key: source.key,
            title: source.key,
            url: source.url,
            items: 0,
            skipped: 0,
            error: failure.message,
            fields: [],
            findings: []
          )
        )
      }
    }
    self.sections = sections
    clean = sections.allSatisfy { $0.error == nil && $0.findings.isEmpty }
    status =
      clean
      ? .done : failures.count == sources.count ? ExitStatus.gravest(failures) : .partial
  }

  private static func section(_ check: SectionCheck, _ url: String) -> Section {
    Section(
      key: check.section.key,
      title: check.section.title,
      url: url,
      items: check.section.items.count,
      skipped: check.skipped,
      error: nil,
      fields: check.fields.map { Field(name: $0.name, paths: $0.paths, items: $0.items) },
      findings: check.findings.map {
        Finding(
          code: $0.code.rawValue,
          field: $0.field,
          count: $0.count,
          message: $0.message,
          examples: $0.examples
        )
      }
    )
  }

  /// One object.
  func json() throws -> [UInt8] { try jsonLine() }

  /// A paragraph a section.
  func text(_ terminal: Terminal) -> String {
    var blocks = sections.map { paragraph($0, terminal) }
    let count = sections.map { $0.findings.count + ($0.error == nil ? 0 : 1) }.reduce(0, +)
    blocks.append(
      clean
        ? terminal.paint("nothing looks wrong", .green)
        : terminal.paint("\(count == 1 ? "1 thing looks" : "\(count) things look") wrong", .yellow)
    )
    return blocks.joined(separator: "\n\n")
  }

  private func paragraph(_ section: Section, _ terminal: Terminal) -> String {
    let name = terminal.paint(PlainText.line(section.key), .bold)
    if let error = section.error {
      return "\(name)  \(terminal.paint(PlainText.line(error), .red))"
    }
    let skipped = section.skipped == 0 ? "" : ", \(section.skipped) cannot be read"
    var lines = [
      "\(name)  \(Quantities.count(section.items, "item"))\(skipped)  \(PlainText.line(section.url))"
    ]
    let width = section.fields.map(\.name.count).max() ?? 0
    for field in section.fields {
      let paths = PlainText.line(field.paths.joined(separator: ", "))
      let cut = paths.count > 60 ? paths.prefix(59) + "…" : paths
      lines.append(
        "  \(padded(field.name, to: width))  \(field.items) of \(section.items)  \(cut)"
      )
    }
    for finding in section.findings {
      let examples =
        finding.examples.isEmpty
        ? "" : " (\(PlainText.line(finding.examples.joined(separator: ", "))))"
      let subject = finding.field.map { "\(PlainText.line($0)): " } ?? ""
      let count =
        Self.counted.contains(finding.code)
        ? "\(finding.count) of \(section.items + section.skipped) " : ""
      lines.append(
        terminal.paint(
          "  ! \(subject)\(count)\(PlainText.line(finding.message))\(examples)",
          .yellow
        )
      )
    }
    return lines.joined(separator: "\n")
  }

  /// The findings whose message is the rest of a sentence that begins with a number of items.
  private static let counted: Set<String> = [
    "item-skipped", "field-lost", "sale-above-normal", "duplicate-id", "minor-units",
    "picture-is-page", "picture-fails",
  ]
}
