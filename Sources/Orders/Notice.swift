import Base
import Catalog

/// A message to a webhook about changes in a shop's catalog, for example new prices.
package struct Notice: Hashable, Sendable, Codable {
  /// The kinds of changes, in the order in which a notice lists them.
  package enum Kind: String, Sendable, Codable, CaseIterable {
    /// The price of an item changed.
    case price
    /// A section lists an item for the first time.
    case added
    /// No section lists an item any more.
    case removed
    /// A section lists an item again.
    case back
    /// The badges of an item changed.
    case badge
    /// The pictures of an item changed.
    case picture
    /// A section, the document about an item, or a picture could not be fetched.
    case failed
  }

  /// A change of an item, or a failure.
  package struct Change: Hashable, Sendable, Codable {
    /// The kind of change.
    package var kind: Kind
    /// The key of the item's section.
    ///
    /// Nil for a failure.
    package var section: String?
    /// The id of the item, or the key of a section that could not be fetched.
    package var id: String?
    /// The title of the item, if it is known.
    package var title: String?
    /// The previous price.
    package var fromPrice: Price?
    /// The present price, if the kind is `price`, `added` or `back`.
    package var toPrice: Price?
    /// The previous badges as one text.
    package var fromText: String?
    /// The present badges as one text, or the reason of a failure.
    package var toText: String?
    /// The URL of the item's picture, or the URL that could not be fetched.
    package var url: String?

    /// Makes a change.
    ///
    /// The other properties are nil.
    package init(_ kind: Kind, section: String? = nil, id: String? = nil) {
      (self.kind, self.section, self.id) = (kind, section, id)
    }
  }

  /// The maximum number of changes that a notice lists.
  package static let mostChanges = 50

  /// The name of the catalog.
  package let catalog: String
  /// The number of the last sync whose changes the notice contains.
  package let run: Int64
  /// The time at which this sync ended.
  package let time: OrderTime
  /// The language of the notice.
  package let language: Language
  /// The first ``mostChanges`` changes, sorted by kind.
  package let changes: [Change]
  /// The number of changes of each kind, including changes that are not listed.
  ///
  /// The keys are the names of the kinds.
  package let counts: [String: Int]
  /// Whether an earlier message with some of these changes may have arrived.
  package var mayRepeat = false

  /// Makes a notice.
  ///
  /// The result is nil if there are no changes.
  package init?(
    catalog: String,
    run: Int64,
    time: OrderTime,
    language: Language,
    _ changes: [Change]
  ) {
    if changes.isEmpty { return nil }
    (self.catalog, self.run, self.time, self.language) = (catalog, run, time, language)
    let sorted = Kind.allCases.flatMap { kind in changes.filter { $0.kind == kind } }
    self.changes = Array(sorted.prefix(Self.mostChanges))
    counts = Dictionary(grouping: changes, by: \.kind.rawValue).mapValues(\.count)
  }

  /// The number of all changes.
  package var total: Int { counts.values.reduce(0, +) }

  /// Whether another notice has the same changes.
  ///
  /// The numbers of the syncs can be different.
  func says(_ other: Notice) -> Bool { changes == other.changes && counts == other.counts }
}

extension Notice {
  /// The JSON of the notice in the format of Standard Webhooks 1.0.
  ///
  /// It depends only on the notice, so that every attempt sends the same bytes. A missing value of a change is null.
  var event: JSONMembers {
    let changes = changes.map { change in
      JSONMembers([
        "kind": change.kind, "section": change.section, "id": change.id, "title": change.title,
        "from": change.fromPrice ?? change.fromText, "to": change.toPrice ?? change.toText,
        "url": change.url,
      ])
    }
    return .event(
      "catalog.changed",
      at: time,
      [
        "catalog": catalog, "run": run, "counts": counts, "changes": changes,
        "more": total - changes.count, "mayRepeat": mayRepeat,
      ]
    )
  }
}

extension SlackPayload {
  /// The maximum number of changes with a picture.
  ///
  /// Each of them needs a block, and a message can have only 50 blocks. (Block Kit reference: blocks)
  private static let mostPictures = 10
  /// The maximum length of the text about a change.
  private static let lineLimit = 250
  /// The maximum lengths of an image's alternative text and URL. (Block Kit reference: image element)
  private static let imageTextLimit = 2000
  private static let imageURLLimit = 3000

  /// Makes the message to Slack about a notice.
  ///
  /// It has a header, a text for each change, and a line with id and time.
  ///
  /// - Parameters:
  ///   - notice: The notice.
  ///   - id: The id of the message.
  ///   - showsPictures: Whether the first changes have pictures.
  /// - Returns: The message.
  static func message(about notice: Notice, id: String, showsPictures: Bool) -> JSONMembers {
    var title = SlackText(limit: headerLimit)
    title.append("\(notice.catalog): \(notice.language.summary(of: notice))")
    var blocks = [header(title.value)]
    var lines: [String] = []
    func close() {
      if lines.isEmpty { return }
      blocks.append(section(lines.joined(separator: "\n")))
      lines = []
    }
    func add(_ line: String) {
      let length = lines.reduce(line.utf16.count) { $0 + $1.utf16.count + 1 }
      if length > sectionLimit { close() }
      lines.append(line)
    }
    var pictures = 0
    for change in notice.changes {
      var text = SlackText(limit: lineLimit)
      text.append(notice.language.line(of: change))
      if showsPictures, pictures < mostPictures, let picture = picture(of: change) {
        close()
        blocks.append(section(text.value, picture: picture))
        pictures += 1
        continue
      }
      add(text.value)
    }
    let more = notice.total - notice.changes.count
    if more > 0 { add(notice.language.more(more)) }
    if notice.mayRepeat { add(notice.language.repetition) }
    close()
    blocks.append(context("\(id) · \(notice.time.text)"))
    // The text for notifications must be escaped like the text in the blocks.
    return message(title.value, blocks)
  }

  /// The picture of a change, or nil if there is no picture that Slack can fetch.
  ///
  /// Slack itself fetches the picture from its URL.
  private static func picture(of change: Notice.Change) -> JSONMembers? {
    guard change.kind != .failed, let url = change.url, url.hasPrefix("https://"),
      url.utf16.count <= imageURLLimit
    else { return nil }
    var text = SlackText(limit: imageTextLimit)
    text.append(change.title ?? change.id ?? "")
    let words = text.value.isEmpty ? "-" : text.value
    return JSONMembers(["type": "image", "image_url": url, "alt_text": words])
  }
}

extension Language {
  /// The numbers of changes as text, for example "3 prices, 1 new".
  func summary(of notice: Notice) -> String {
    Notice.Kind.allCases.compactMap { kind in
      notice.counts[kind.rawValue].map { count in
        if self == .korean { return "\(name(of: kind)) \(count)" }
        let isCounted = count != 1 && [.price, .badge, .picture].contains(kind)
        return "\(count) \(name(of: kind))\(isCounted ? "s" : "")"
      }
    }.joined(separator: ", ")
  }

  private func name(of kind: Notice.Kind) -> String {
    switch kind {
    case .price: of("price", "가격 변동")
    case .added: of("new", "새 상품")
    case .removed: of("removed", "빠진 상품")
    case .back: of("back", "다시 들어온 상품")
    case .badge: of("badge", "배지")
    case .picture: of("picture", "사진")
    case .failed: of("failed", "실패")
    }
  }

  /// The text about a change, for example "• Tea (A1): 7,000원 → 6,500원 (−7 %)".
  func line(of change: Notice.Change) -> String {
    let item = [change.title, change.id].compactMap(\.self)
    let subject = PlainText.line(item.count == 2 ? "\(item[0]) (\(item[1]))" : item.first ?? "")
    let price = change.toPrice.map { " · \($0.formatted())" } ?? ""
    let nothing = of("nothing", "없음")
    switch change.kind {
    case .price:
      let (from, to) = (change.fromPrice?.formatted(), change.toPrice?.formatted())
      return "• \(subject): \(from ?? nothing) → \(to ?? nothing)\(percent(of: change))"
    case .added, .removed, .back: return "• \(name(of: change.kind)): \(subject)\(price)"
    case .badge:
      let (from, to) = (change.fromText ?? nothing, change.toText ?? nothing)
      return PlainText.line("• \(subject): \(from) → \(to)")
    case .picture: return "• \(name(of: .picture)): \(subject)"
    case .failed:
      return PlainText.line(
        "• \(name(of: .failed)): \(subject) \(change.toText ?? "") \(change.url ?? "")"
      )
    }
  }

  /// The relative change of a price, for example " (−7 %)".
  ///
  /// It is empty if the prices cannot be compared.
  private func percent(of change: Notice.Change) -> String {
    guard let from = change.fromPrice, let to = change.toPrice,
      let percent = from.percent(to: to), percent != 0
    else { return "" }
    return " (\(percent < 0 ? "−" : "+")\(abs(percent)) %)"
  }

  /// The warning that an earlier message may have contained some of the changes.
  var repetition: String {
    of("An earlier message may have included part of this.", "이미 전해진 내용이 섞여 있을 수 있습니다.")
  }
}
