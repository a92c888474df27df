import Catalog
import Mustache
import Pipeline

/// The template data of an item's card, in the report and in the web store.
///
/// A text that the item does not have is empty.
struct ItemView: PageView, MustacheParent, Equatable {
  static let template = "report-card"

  /// The card's position on the page, from 0.
  var number: Int
  var title: String
  var text: String
  /// The attribute `src` of the picture.
  var picture: String
  /// The text that the card shows if it has no picture, such as "picture failed".
  var noPicture: String
  var price: String
  /// The normal price; empty if the item is not sold for less than this price.
  var normal: String
  var badges: [String]
  var isStale: Bool
  /// A chart of the price over time; nil if the price never changed.
  var line: PriceLineView?
  /// The `lang` attribute of the card's labels, as in ``Words``.
  let own: String

  /// The labels that all cards of a page share.
  struct Words: Equatable {
    let missing, failed: String
    /// The `lang` attribute of the labels, such as ` lang=en`; empty if the shop's texts are in the same language.
    let own: String

    /// Creates the labels in a language.
    ///
    /// - Parameters:
    ///   - language: The page's language.
    ///   - speech: The `lang` attribute of the shop's texts, such as ` lang="ko"`; empty if their language is
    ///     unknown.
    ///   - leavesOut: Whether the page leaves out all pictures.
    init(_ language: PageLanguage, within speech: String = "", leavesOut: Bool = false) {
      missing =
        leavesOut
        ? language.of("picture left out", "사진 생략") : language.of("no picture", "사진 없음")
      failed = language.of("picture failed", "사진 오류")
      let isSame = speech.isEmpty || speech == ReportShelf.speech(language.rawValue)
      own = isSame ? "" : " lang=\(language.rawValue)"
    }
  }

  /// Creates the card of an item.
  init(_ shown: ShownItem, number: Int, picture: String?, _ words: Words) {
    let item = shown.item
    self.number = number
    own = words.own
    title = PlainText.line(item.title)
    if title.isEmpty { title = PlainText.line(item.id) }
    text = item.description.map(PlainText.line) ?? ""
    if text == title { text = "" }
    self.picture = picture ?? ""
    noPicture = shown.thumbnail?.state == .failed ? words.failed : words.missing
    price = (item.salePrice ?? item.normalPrice)?.formatted() ?? ""
    normal = item.struckPrice?.formatted() ?? ""
    badges = item.badges.map(PlainText.line).filter { !$0.isEmpty }
    isStale = shown.isStale
  }

  // This lookup is written out, because reflection over ten thousand cards would take a quarter of a report's time.
  func child(named name: String) -> Any? {
    switch name {
    case "number": number
    case "title": title
    case "text": text
    case "picture": picture
    case "noPicture": noPicture
    case "price": price
    case "normal": normal
    case "badges": badges
    case "isStale": isStale
    case "line": line
    case "own": own
    default: nil
    }
  }
}
