import Catalog
import Pipeline
import Transport

/// What the page knows of each item beyond its card, as JSON for its script.
///
/// An item is `[id, [[name, value]…], text, [[role, [picture…] or how many]…]]`; a picture is its place
/// in `pictures`, or −1 when it is not held.
struct SheetData {
  private let language: PageLanguage
  private let book: PictureBook
  /// Whether the pictures of details are shown, and not only counted.
  private let showsDetails: Bool
  private var places: [String: Int] = [:]
  private var pictures: [String] = []
  private var urls: [String] = []
  private var items: [String] = []

  /// Data without items.
  init(_ language: PageLanguage, _ book: PictureBook, showsDetails: Bool) {
    (self.language, self.book, self.showsDetails) = (language, book, showsDetails)
  }

  /// Adds the next item.
  mutating func add(_ shown: ShownItem, section: String, _ clock: PageClock) {
    let item = shown.item
    let say = language.of
    var facts: [(String, String)] = [(say("Section", "섹션"), PlainText.line(section))]
    let delivery = item.deliveryTypes.map(PlainText.line).joined(separator: ", ")
    if !delivery.isEmpty { facts.append((say("Delivery", "배송"), delivery)) }
    if let address = item.address { facts.append((say("Place", "위치"), PlainText.line(address))) }
    for (name, note) in (shown.detail?.notes ?? [:]).sorted(by: { $0.key < $1.key }) {
      facts.append((self.note(name), PlainText.line(note)))
    }
    if let since = shown.detailSince {
      facts.append((say("Detail gone since", "상세 정보 없음"), clock.text(since)))
    }
    var text = shown.detail?.description.map(PlainText.block) ?? ""
    if text.isEmpty { text = item.description.map(PlainText.block) ?? "" }
    let groups = ImageReference.Role.allCases.dropFirst().compactMap { role -> String? in
      let images = shown.images.filter { $0.role == role }
      guard !images.isEmpty else { return nil }
      let list = showsDetails ? PageData.list(images.map { "\(place($0))" }) : "\(images.count)"
      return PageData.list([PageData.text(role.rawValue), list])
    }
    items.append(
      PageData.list([
        PageData.text(PlainText.line(item.id)),
        PageData.list(facts.map { PageData.list([PageData.text($0.0), PageData.text($0.1)]) }),
        PageData.text(text), PageData.list(groups),
      ])
    )
  }

  /// The JSON.
  var json: String {
    let say = language.of
    let roles = PageData.object([
      "top": PageData.text(language.role("top")),
      "gallery": PageData.text(language.role("gallery")),
      "section": PageData.text(language.role("section")),
    ])
    let words = PageData.object([
      "language": PageData.text(language.rawValue),
      "found": PageData.text(say("# found", "#개 찾음")),
      "noPicture": PageData.text(say("not held", "없음")),
      "original": PageData.text(say("Open the original", "원본 열기")),
      "id": PageData.text(say("Id", "상품 번호")), "roles": roles,
    ])
    return PageData.object([
      "words": words, "folder": PageData.text(book.folder),
      "pictures": PageData.list(pictures.lazy.map(PageData.text)),
      "urls": book.place == .inline ? PageData.list(urls) : "null",
      "items": PageData.list(items.lazy.map { "\n" + $0 }),
    ])
  }

  private mutating func place(_ image: ShownImage) -> Int {
    guard let digest = image.sha256, let name = book.name(digest) else { return -1 }
    if let place = places[digest] { return place }
    places[digest] = pictures.count
    pictures.append(name)
    urls.append(PageText.link(image.url).map(PageData.text) ?? "null")
    return pictures.count - 1
  }

  /// The notes that larder's own formats have, in words; others as they are called.
  private func note(_ name: String) -> String {
    switch name {
    case "point": language.of("Points", "적립금")
    case "delivery_info": language.of("Delivery days", "배송 안내")
    case "delivery_fee": language.of("Delivery fee", "배송비")
    default: PlainText.line(name)
    }
  }
}
