import Catalog
import Pipeline

/// A proposed catalog file and what it reads, as JSON and for people.
struct ProposalDocument: Encodable {
  private struct Item: Encodable {
    var id: String
    var title: String
    @OrNull var normalPrice: String?
    @OrNull var salePrice: String?
    var pictures: Int
    @OrNull var picture: String?
  }

  /// What a detail holds as the file reads it.
  private struct Detail: Encodable {
    @OrNull var id: String?
    var description: Bool
    var prices: Int
    var pictures: Int
    var notes: [String]
  }

  @OrNull private var file: String?
  private let items: Int
  private let skipped: Int
  private let sections: [String]
  private let examples: [Item]
  @OrNull private var detail: Detail?
  private let yaml: String

  init(_ proposed: ProposedFile, path: String?) {
    file = path
    let all = proposed.listings.flatMap(\.sections)
    let skips = proposed.listings.flatMap(\.skipped).filter { $0.lost == .item }
    items = all.map(\.items.count).reduce(0, +)
    skipped = Set(skips.map { "\($0.section) \($0.index)" }).count
    sections = all.map(\.key)
    examples = all.flatMap(\.items).prefix(3).map { item in
      Item(
        id: item.id,
        title: item.title,
        normalPrice: item.normalPrice?.formatted(),
        salePrice: item.salePrice?.formatted(),
        pictures: item.images.count,
        picture: item.images.first?.url
      )
    }
    detail = proposed.readDetail.map { detail in
      Detail(
        id: detail.id,
        description: detail.description?.isEmpty == false,
        prices: detail.prices.count,
        pictures: detail.images.count,
        notes: detail.notes.keys.sorted()
      )
    }
    yaml = proposed.text
  }

  /// One object.
  func json() throws -> [UInt8] { try jsonLine() }

  /// What was written, and the first items as the file reads them.
  var text: String {
    let count = sections.count == 1 ? "" : " in \(sections.count) sections"
    let lost = skipped == 0 ? "" : ", \(skipped) cannot be read"
    let subject = file.map { "wrote \(PlainText.line($0)): it" } ?? "the file above"
    var lines = ["\(subject) reads \(Quantities.count(items, "item"))\(count)\(lost), the first:"]
    for item in examples {
      let was = item.normalPrice.map { " (was \($0))" } ?? ""
      let price = item.salePrice.map { "  \($0)\(was)" } ?? "  no price"
      lines.append("  \(short(item.id))  \(short(item.title))\(price)")
      lines.append(
        "      \(item.pictures == 1 ? "1 picture" : "\(item.pictures) pictures")"
          + (item.picture.map { ", \(short($0))" } ?? "")
      )
    }
    if let detail {
      let parts = [
        detail.description ? "a description" : nil,
        detail.pictures == 0 ? nil : Quantities.count(detail.pictures, "picture"),
        detail.prices == 0 ? nil : Quantities.count(detail.prices, "price"),
        detail.notes.isEmpty ? nil : "notes (\(short(detail.notes.joined(separator: ", "))))",
      ].compactMap(\.self)
      lines.append("  the detail of \(short(detail.id ?? "")): \(parts.joined(separator: ", "))")
    }
    if let file {
      lines.append(
        "look through its comments, then: larder catalog check \(ShownCommand.word(PlainText.line(file)))"
      )
    }
    return lines.joined(separator: "\n")
  }

  private func short(_ text: String) -> String {
    let line = PlainText.line(text)
    return line.count > 100 ? line.prefix(99) + "…" : line
  }
}
