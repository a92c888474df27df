import Base
import Cache
import Catalog
import Pipeline

/// Items as a text table, with a heading for each section and a line for each item.
///
/// The width of a column depends only on the rows so far. So the first lines can be printed before the last items are
/// read. If an item is on sale, its normal price is printed beside the sale price. On a terminal with colours, the
/// normal price is struck through.
struct ItemTable {
  private let sections: [String: RunSection]
  private let terminal: Terminal
  /// The widths so far of the columns with id, price and normal price.
  private var widths = [0, 0, 0]
  /// The section of the last printed item.
  private var current: String?

  init(sections: [RunSection], _ terminal: Terminal) {
    self.sections = Dictionary(sections.map { ($0.key, $0) }) { first, _ in first }
    self.terminal = terminal
  }

  /// The lines for the next items.
  ///
  /// If an item begins a new section, its line follows the heading of that section.
  mutating func lines(of items: [ShownItem]) -> String {
    let rows = items.map { [PlainText.line($0.item.id), price($0), normalPrice($0)] }
    for row in rows { widths = zip(widths, row).map { max($0, columns($1)) } }
    var lines: [String] = []
    for (item, row) in zip(items, rows) {
      let section = item.sections.first
      if section != current, let entry = section.flatMap({ sections[$0] })?.plain {
        if current != nil { lines.append("") }
        lines.append(heading(entry))
        current = section
      }
      var line =
        "  \(padded(row[0], to: widths[0]))  \(padded(row[1], to: widths[1], right: true))  "
      if widths[2] > 0 {
        line += String(repeating: " ", count: widths[2] - columns(row[2]))
        line += row[2].isEmpty ? "  " : terminal.paint(row[2], .struck) + "  "
      }
      let shown = item.plain
      line += shown.item.title
      if !shown.item.badges.isEmpty {
        let badges = shown.item.badges.joined(separator: "] [")
        line += "  " + terminal.paint("[\(badges)]", .yellow)
      }
      if shown.thumbnail?.state != .held { line += terminal.paint("  (no picture)", .faint) }
      if let place = shown.item.place { line += terminal.paint("  @ \(place)", .faint) }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  private func heading(_ section: RunSection) -> String {
    var heading = terminal.paint(section.title, .bold)
    if let subtitle = section.subtitle { heading += "  \(subtitle)" }
    if section.source == "stale" { heading += terminal.paint("  (stale)", .yellow) }
    return heading
  }

  private func price(_ item: ShownItem) -> String {
    (item.item.salePrice ?? item.item.normalPrice)?.formatted() ?? "–"
  }

  /// The normal price of an item on sale; empty for other items.
  ///
  /// Without colours the price has the form `(was 8,000원)`, as in ``ShownItem/card(_:)``.
  private func normalPrice(_ item: ShownItem) -> String {
    guard let normal = item.item.struckPrice else { return "" }
    return terminal.hasColor ? normal.formatted() : "(was \(normal.formatted()))"
  }
}

extension ShownItem {
  /// The item as text, for `larder show`: title, facts, then one line for each picture.
  func card(_ terminal: Terminal) -> String {
    let (shown, store) = (plain, plain.item)
    let text = shown.detail?.description.map(PlainText.line)
    var facts = [
      ("id", store.id),
      ("sections", shown.sections.joined(separator: ", ") + (shown.isStale ? " (stale)" : "")),
      ("price", store.priceText ?? ""),
    ]
    if let lowest = shown.lowest30Days, lowest.price != store.price {
      let price = lowest.price.formatted()
      facts.append(("lowest", "\(price) in the last 30 days, since \(lowest.time.rfc3339)"))
    }
    facts += [
      ("place", store.wholePlace), ("badges", store.badges.joined(separator: ", ")),
      ("delivery", store.deliveryTypes.joined(separator: ", ")),
      ("detail", text == store.description ? "" : text ?? ""),
    ]
    facts += (shown.detail?.notes ?? [:]).sorted { $0.key < $1.key }
      .map { (PlainText.line($0.key), PlainText.line($0.value)) }
    if let since = shown.detailSince, shown.detail != nil {
      let words = "the shop removed the detail by \(since.rfc3339); the last version is shown"
      facts.append(("gone", words))
    }
    var lines =
      [terminal.paint(store.title, .bold)] + (store.description.map { [$0] } ?? []) + [""]
    lines += facts.filter { !$1.isEmpty }.map { "\(padded($0, to: 13))  \($1)" }
    if !shown.pictures.isEmpty { lines.append("") }
    for image in shown.pictures {
      let place = image.path ?? "\(image.state.rawValue): \(image.url)"
      let size = image.bytes.map { "  \(ByteCount($0).formatted())" } ?? ""
      lines.append("\(padded(image.role.rawValue, to: 9))  \(place)\(size)")
    }
    return lines.joined(separator: "\n")
  }

  /// The item in a form that is safe for a terminal: every text of the shop is one line without control characters.
  var plain: ShownItem {
    var shown = self
    shown.item.id = PlainText.line(item.id)
    shown.item.title = PlainText.line(item.title)
    shown.item.description = item.description.map(PlainText.line)
    shown.item.badges = item.badges.map(PlainText.line)
    shown.item.deliveryTypes = item.deliveryTypes.map(PlainText.line)
    shown.item.address = item.address.map(PlainText.line)
    shown.sections = sections.map(PlainText.line)
    shown.pictures = pictures.map { image in
      var image = image
      image.url = PlainText.line(image.url)
      return image
    }
    return shown
  }
}

extension StoreItem {
  /// The address of the item, or else its latitude and longitude; nil if it has neither.
  fileprivate var place: String? { address ?? degrees }

  /// Latitude and longitude in the form that map services accept, such as `37.5, 127.0`.
  private var degrees: String? { coordinate.map { "\($0.latitude), \($0.longitude)" } }

  /// The address of the item, then its latitude and longitude in parentheses; empty if it has neither.
  fileprivate var wholePlace: String {
    switch (address, degrees) {
    case (let address?, let degrees?): "\(address) (\(degrees))"
    case (let one?, nil), (nil, let one?): one
    case (nil, nil): ""
    }
  }

  /// The price to pay, and the normal price if it is above, such as `6,500원 (was 7,000원)`; nil if there is no price.
  var priceText: String? {
    let was = struckPrice.map { " (was \($0.formatted()))" } ?? ""
    return (salePrice ?? normalPrice).map { $0.formatted() + was }
  }
}

extension RunSection {
  /// The section in a form that is safe for a terminal.
  var plain: RunSection {
    var section = self
    section.key = PlainText.line(key)
    section.title = PlainText.line(title)
    section.subtitle = subtitle.map(PlainText.line)
    return section
  }
}
