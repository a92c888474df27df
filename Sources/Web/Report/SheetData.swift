import Catalog
import Pipeline

/// The data about items that the report's script shows when a reader clicks on a card, as JSON.
///
/// An item is `[id, [name, value, …], text, [top, gallery, section]]`. Names and values, such as "Delivery" and
/// "tomorrow", are indexes into the list `texts`, because many items have the same ones. The text is empty if the card
/// shows it already.
///
/// `top`, `gallery` and `section` are the pictures with these roles. If the page shows them, they are a list of indexes
/// into the list `pictures`, with −1 for a picture without a thumbnail. Otherwise they are the number of pictures.
struct SheetData {
  private let language: PageLanguage
  private let book: PictureBook
  /// Whether the pictures of details are shown, and not only counted.
  ///
  /// A detail is the shop's document about one item, beyond the item's entry in a list.
  private let showsDetails: Bool
  private var places: [String: Int] = [:]
  private var pictures: [String] = []
  private var urls: [String] = []
  private var items: [String] = []
  private var texts: [String] = []
  private var textPlaces: [String: Int] = [:]

  init(_ language: PageLanguage, _ book: PictureBook, showsDetails: Bool) {
    (self.language, self.book, self.showsDetails) = (language, book, showsDetails)
  }

  /// Adds the next item.
  mutating func add(_ shown: ShownItem, _ clock: PageClock) {
    let item = shown.item
    let facts = ItemFact.all(of: shown, language, clock)
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
        PageData.list(
          facts.flatMap { [place(of: $0.name), place(of: $0.value)] }.map { "\($0)" }
        ),
        PageData.text(text == line ? "" : text), PageData.list(groups),
      ])
    )
  }

  /// The data of all items as a JSON object.
  var json: String {
    PageData.object([
      "before": PageData.text(book.folder),
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
