import Catalog
import Pipeline

/// Data about each item beyond its card, as JSON for the report's script.
///
/// An item is `[id, [name, value, …], text, [top, gallery, section]]`. Names and values are indexes into `texts`,
/// because most items share them. The text is empty if the card shows it.
///
/// `top`, `gallery` and `section` are groups of pictures. A group is the number of its pictures, or a list of indexes
/// into `pictures`, with −1 for a picture without a thumbnail.
struct SheetData {
  private let language: PageLanguage
  private let book: PictureBook
  /// Whether the pictures of details are shown, and not only counted.
  private let showsDetails: Bool
  private var places: [String: Int] = [:]
  private var pictures: [String] = []
  private var urls: [String] = []
  private var items: [String] = []
  private var texts: [String] = []
  private var textPlaces: [String: Int] = [:]

  /// Creates data without items.
  init(_ language: PageLanguage, _ book: PictureBook, showsDetails: Bool) {
    (self.language, self.book, self.showsDetails) = (language, book, showsDetails)
  }

  /// Adds the next item.
  mutating func add(_ shown: ShownItem, lowest: PriceLineView.Fact? = nil, _ clock: PageClock) {
    let item = shown.item
    let say = language.of
    var facts: [(String, String)] = []
    let delivery = item.deliveryTypes.map(PlainText.line).joined(separator: ", ")
    if !delivery.isEmpty { facts.append((say("Delivery", "배송"), delivery)) }
    if let address = item.address { facts.append((say("Place", "위치"), PlainText.line(address))) }
    for (name, note) in (shown.detail?.notes ?? [:]).sorted(by: { $0.key < $1.key }) {
      facts.append((language.note(name), PlainText.line(note)))
    }
    if let since = shown.detailSince {
      facts.append((say("No detail since", "상세 정보 없음"), clock.text(since)))
    }
    if let lowest { facts.append((lowest.name, lowest.value)) }
    let line = item.description.map(PlainText.line) ?? ""
    var text = shown.detail?.description.map(PlainText.block) ?? ""
    if text.isEmpty { text = item.description.map(PlainText.block) ?? "" }
    let groups = [ImageReference.Role.top, .gallery, .section].map { role -> String in
      let images = shown.pictures.filter { $0.role == role }
      return showsDetails ? PageData.list(images.map { "\(place($0))" }) : "\(images.count)"
    }
    items.append(
      PageData.list([
        PageData.text(PlainText.line(item.id)),
        PageData.list(facts.flatMap { [place(of: $0.0), place(of: $0.1)] }.map { "\($0)" }),
        PageData.text(text == line ? "" : text), PageData.list(groups),
      ])
    )
  }

  /// The JSON.
  var json: String {
    let say = language.of
    let roles = PageData.list(
      ["top", "gallery", "section"].map { PageData.text(language.role($0)) }
    )
    let words = PageData.object([
      "language": PageData.text(language.rawValue),
      "found": PageData.text(say("# found", "#개 찾음")),
      "noPicture": PageData.text(say("not held", "없음")),
      "original": PageData.text(say("Open the original", "원본 열기")),
      "id": PageData.text(say("Id", "상품 번호")),
      "section": PageData.text(say("Section", "섹션")), "roles": roles,
    ])
    return PageData.object([
      "words": words, "before": PageData.text(book.folder),
      "after": PageData.text(book.suffix),
      "pictures": PageData.list(pictures.lazy.map(PageData.text)),
      "urls": book.place == .inline ? PageData.list(urls) : "null",
      "texts": PageData.list(texts.lazy.map(PageData.text)),
      "items": PageData.list(items.lazy.map { "\n" + $0 }),
    ])
  }

  private mutating func place(_ image: ShownPicture) -> Int {
    guard let digest = image.sha256, let name = book.stem(digest) else { return -1 }
    if let place = places[digest] { return place }
    places[digest] = pictures.count
    pictures.append(name)
    urls.append(PageText.link(image.url).map(PageData.text) ?? "null")
    return pictures.count - 1
  }

  private mutating func place(of text: String) -> Int {
    if let place = textPlaces[text] { return place }
    textPlaces[text] = texts.count
    texts.append(text)
    return texts.count - 1
  }
}
