import Base
import Catalog
import FoundationEssentials
import Transport

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
    let order = Kind.allCases
    let sorted = changes.enumerated().sorted {
      let (left, right) = (
        order.firstIndex(of: $0.element.kind), order.firstIndex(of: $1.element.kind)
      )
      return (left ?? 0, $0.offset) < (right ?? 0, $1.offset)
    }.map(\.element)
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

extension Encodable {
  /// The value as JSON with sorted keys, so that equal values give equal bytes.
  ///
  /// Nil if JSON cannot represent the value.
  func json() -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { [UInt8]($0) }
  }
}

/// A message to a webhook: an ``OrderMessage`` or a ``NoticeMessage``.
protocol Outgoing: Sendable {
  /// The id of the message, which is the same in all attempts.
  ///
  /// The fields `webhook-id` and `Idempotency-Key` contain it.
  var id: String { get }
  /// The id that reports contain.
  ///
  /// It is the id of the order or of the notice.
  var subject: OrderID { get }

  /// The body of the request.
  ///
  /// The result is nil if the message cannot be encoded as JSON.
  func body(for webhook: Webhook) -> [UInt8]?

  /// The outcome to record for an attempt with the outcome `seen`.
  ///
  /// Usually it is `seen` itself. But a refusal becomes a failure if the next attempt sends the message without
  /// pictures.
  func outcome(_ seen: AttemptOutcome) -> AttemptOutcome
}

extension Outgoing {
  func outcome(_ seen: AttemptOutcome) -> AttemptOutcome { seen }

  /// Makes the request for one attempt, with its header fields and signatures.
  ///
  /// - Parameters:
  ///   - webhook: The webhook to send to.
  ///   - now: The current time, which is a part of the signature.
  /// - Returns: The request, or nil if the message cannot be encoded as JSON.
  func request(to webhook: Webhook, at now: OrderTime) -> Request? {
    guard let body = body(for: webhook) else { return nil }
    var request = Request(webhook.url)
    request.method = .post
    request.trust = .named
    request.priority = .section
    request.bodyLimit = OrderMessage.replyLimit
    request.headers = ["Content-Type": "application/json", "Idempotency-Key": id]
    request.body = body
    guard webhook.payload == .json else { return request }
    request.headers.append("webhook-id", id)
    request.headers.append("webhook-timestamp", String(now.seconds))
    let signatures = webhook.secrets.map {
      $0.signature(id: id, timestamp: now.seconds, body: body)
    }
    if !signatures.isEmpty {
      request.headers.append("webhook-signature", signatures.joined(separator: " "))
    }
    return request
  }
}

/// A notice with its message id.
struct NoticeMessage: Outgoing {
  let id: String
  let notice: Notice
  /// Whether a message to Slack contains pictures.
  ///
  /// This is true only in the first attempt, because Slack refuses a whole message if it cannot fetch one of the
  /// pictures.
  let showsPictures: Bool

  var subject: OrderID { OrderID(rawValue: id) }

  func body(for webhook: Webhook) -> [UInt8]? {
    switch webhook.payload {
    case .slack: SlackPayload(notice, id: id, showsPictures: showsPictures).json()
    case .json: NoticeEvent(notice).json()
    }
  }

  func outcome(_ seen: AttemptOutcome) -> AttemptOutcome {
    guard case .refused(let reason) = seen, showsPictures else { return seen }
    return .failed(AttemptOutcome.Failure(reason))
  }
}

/// The JSON of a notice in the format of Standard Webhooks 1.0, with a type, a time and data. ("Webhook payload")
///
/// It depends only on the notice, so that every attempt sends the same bytes.
private struct NoticeEvent: Encodable {
  /// A price, a text or null.
  private struct Value: Encodable {
    let price: Price?
    let text: String?

    func encode(to encoder: any Encoder) throws {
      var body = encoder.singleValueContainer()
      if let price { try body.encode(price) } else { try body.encode(text) }
    }
  }

  /// A change in which every key is present.
  ///
  /// A missing value is null.
  private struct Change: Encodable {
    let kind: Notice.Kind
    @OrNull var section: String?
    @OrNull var id: String?
    @OrNull var title: String?
    let from: Value
    let to: Value
    @OrNull var url: String?
  }

  private struct Body: Encodable {
    let catalog: String
    let run: Int64
    let counts: [String: Int]
    let changes: [Change]
    let more: Int
    let mayRepeat: Bool
  }

  private let type = "catalog.changed"
  private let timestamp: String
  private let data: Body

  init(_ notice: Notice) {
    timestamp = notice.time.text
    data = Body(
      catalog: notice.catalog,
      run: notice.run,
      counts: notice.counts,
      changes: notice.changes.map {
        Change(
          kind: $0.kind,
          section: $0.section,
          id: $0.id,
          title: $0.title,
          from: Value(price: $0.fromPrice, text: $0.fromText),
          to: Value(price: $0.toPrice, text: $0.toText),
          url: $0.url
        )
      },
      more: notice.total - notice.changes.count,
      mayRepeat: notice.mayRepeat
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
  init(_ notice: Notice, id: String, showsPictures: Bool) {
    var header = SlackText(limit: Self.headerLimit)
    header.append("\(notice.catalog): \(notice.language.summary(of: notice))")
    var blocks = [Block(type: "header", text: .plain(header.value))]
    var lines: [String] = []
    func close() {
      if lines.isEmpty { return }
      blocks.append(Block(type: "section", text: .marked(lines.joined(separator: "\n"))))
      lines = []
    }
    var pictures = 0
    for change in notice.changes {
      var text = SlackText(limit: Self.lineLimit)
      text.append(notice.language.line(of: change))
      if showsPictures, pictures < Self.mostPictures, let image = Self.image(of: change) {
        close()
        blocks.append(Block(type: "section", text: .marked(text.value), accessory: image))
        pictures += 1
        continue
      }
      let length = lines.reduce(text.value.utf16.count) { $0 + $1.utf16.count + 1 }
      if length > Self.sectionLimit { close() }
      lines.append(text.value)
    }
    let more = notice.total - notice.changes.count
    if more > 0 { lines.append(notice.language.more(more)) }
    if notice.mayRepeat { lines.append(notice.language.repetition) }
    close()
    blocks.append(Block(type: "context", elements: [.plain("\(id) · \(notice.time.text)")]))
    // Slack shows this text in notifications. It must be escaped like the text in the blocks.
    self.init(text: header.value, blocks: blocks)
  }

  /// The picture of a change, or nil if there is no picture that Slack can fetch.
  private static func image(of change: Notice.Change) -> Image? {
    guard change.kind != .failed, let url = change.url, url.hasPrefix("https://"),
      url.utf16.count <= imageURLLimit
    else { return nil }
    var text = SlackText(limit: imageTextLimit)
    text.append(change.title ?? change.id ?? "")
    return Image(imageURL: url, altText: text.value.isEmpty ? "-" : text.value)
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
    switch (self, kind) {
    case (.korean, .price): "가격 변동"
    case (.korean, .added): "새 상품"
    case (.korean, .removed): "빠진 상품"
    case (.korean, .back): "다시 들어온 상품"
    case (.korean, .badge): "배지"
    case (.korean, .picture): "사진"
    case (.korean, .failed): "실패"
    case (.english, .price): "price"
    case (.english, .added): "new"
    case (.english, .removed): "removed"
    case (.english, .back): "back"
    case (.english, .badge): "badge"
    case (.english, .picture): "picture"
    case (.english, .failed): "failed"
    }
  }

  /// The text about a change, for example "• Tea (A1): 7,000원 → 6,500원 (−7 %)".
  func line(of change: Notice.Change) -> String {
    let item = [change.title, change.id].compactMap(\.self)
    let subject = PlainText.line(item.count == 2 ? "\(item[0]) (\(item[1]))" : item.first ?? "")
    let price = change.toPrice.map { " · \($0.formatted())" } ?? ""
    let nothing = self == .korean ? "없음" : "nothing"
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
    guard let from = change.fromPrice, let to = change.toPrice, from.currency == to.currency,
      from.minorUnits > 0
    else { return "" }
    let percent = ((Double(to.minorUnits) / Double(from.minorUnits) - 1) * 100).rounded()
    guard abs(percent) < 1e6, percent != 0 else { return "" }
    return " (\(percent < 0 ? "−" : "+")\(Int(abs(percent))) %)"
  }

  /// The text about changes that are not listed, for example "and 3 more".
  func more(_ count: Int) -> String {
    self == .korean ? "외 \(count)건" : "and \(count) more"
  }

  /// The warning that an earlier message may have contained some of the changes.
  var repetition: String {
    self == .korean
      ? "이미 전해진 내용이 섞여 있을 수 있습니다." : "An earlier message may have included part of this."
  }
}
