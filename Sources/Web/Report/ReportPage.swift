import Base
import Catalog
import Dispatch
import Imaging
import Pipeline
import Synchronization

/// A catalog as one self-contained HTML page, for `larder report`.
package struct ReportPage {
  let data: ReportData
  /// The language of the page's own words.
  let language: PageLanguage
  /// The time of the page, and the time zone of the times on the page.
  let clock: PageClock
  let advice: ReportAdvice

  /// A page with up to this many items embeds its thumbnails.
  ///
  /// A page with more items has them in a folder beside the page.
  package static let mostInline = 2000
  /// A page that embeds its thumbnails shows the pictures of details only if it has at most this many pictures in all.
  ///
  /// A detail is the shop's document about one item, beyond the item's entry in a list.
  private static let mostInlinePictures = 4000
  /// A page with a folder shows the pictures of details only if it has at most this many pictures in all.
  private static let mostFiles = 20_000

  var isInline: Bool { data.items.count <= Self.mostInline }

  /// Whether the pictures of details are shown, and not only counted.
  private var showsDetails: Bool {
    let most = isInline ? Self.mostInlinePictures : Self.mostFiles
    return Set(data.items.lazy.flatMap(\.pictures).map(\.url)).count <= most
  }

  /// The pictures that the page shows, if they are in the cache.
  var images: [ShownPicture] {
    showsDetails ? data.items.flatMap(\.pictures) : data.items.compactMap(\.thumbnail)
  }

  /// Renders the page.
  ///
  /// - Parameter book: The page's thumbnails.
  /// - Returns: The HTML.
  /// - Throws: The error of a template's parser. A test checks that every template can be parsed.
  func html(_ book: PictureBook) throws -> String {
    let templates = try PageTemplates.shared(language)
    var shelves = ReportShelf.all(data, language)
    makeCards(of: &shelves, book, templates)
    var sheets = SheetData(language, book, showsDetails: book.place != .nowhere && showsDetails)
    var cards: ReportCards = [:]
    for (number, item) in shelves.flatMap(\.items).enumerated() {
      sheets.add(item, clock)
      if cards[item.id.exact] == nil {
        cards[item.id.exact] = (number, PlainText.line(item.item.title))
      }
    }
    return templates.html(ReportView(self, shelves, cards, sheets: sheets.json))
  }

  /// Makes the HTML of each section's cards on all processors.
  private func makeCards(
    of shelves: inout [ReportShelf],
    _ book: PictureBook,
    _ templates: PageTemplates
  ) {
    let jobs = shelves.enumerated().flatMap { place, shelf in
      stride(from: 0, to: shelf.items.count, by: 250).map { (shelf: place, from: $0) }
    }
    let made = Mutex([Int: String]())
    DispatchQueue.concurrentPerform(iterations: jobs.count) { [shelves] job in
      let (place, from) = jobs[job]
      let shelf = shelves[place]
      let words = ItemView.Words(
        language,
        within: shelf.speech,
        leavesOut: book.place == .nowhere
      )
      var html = ""
      for offset in from..<min(from + 250, shelf.items.count) {
        let item = shelf.items[offset]
        let picture = book.source(item.thumbnail?.sha256)
        var view = ItemView(item, number: shelf.first + offset, picture: picture, words)
        view.line = PriceLineView(item, clock, language, own: words.own)
        html += templates.html(view)
      }
      made.withLock { $0[job] = html }
    }
    let parts = made.withLock { $0 }
    for (job, place) in jobs.enumerated() { shelves[place.shelf].cards += parts[job] ?? "" }
  }
}

/// The making of a report for `larder report`.
extension ReportPage {
  /// Whether a file is a report of larder, by its `meta` element, given the file's first bytes.
  ///
  /// A newer report is allowed to replace such a file.
  package static func isReport(_ start: [UInt8]) -> Bool {
    String(decoding: start, as: UTF8.self).contains(
      "<meta name=\"generator\" content=\"larder report\">"
    )
  }

  /// The result.
  package struct Made: Sendable {
    /// The HTML of the page.
    package var html: String
    /// The number of items on the page.
    package var items: Int
    /// The number of the page's thumbnails.
    package var thumbnails: Int
    /// The digests of the pictures whose thumbnails are in the folder; nil if the thumbnails are embedded.
    package var files: [String]?
  }

  /// Reads the cache, makes the thumbnails, and renders the page.
  ///
  /// With more than ``mostInline`` items, the thumbnails are written into `folder`. They are written before
  /// the page is returned, so the page never refers to a missing file. Without a folder, such a page has no thumbnails.
  ///
  /// - Parameters:
  ///   - reader: The catalog.
  ///   - language: The language of the page's own words.
  ///   - clock: The time of the report, and the time zone of the times in it.
  ///   - since: The start of the period to report. Pass nil to report the whole catalog.
  ///   - advice: Returns advice that names options of commands.
  ///   - pictures: Decides in which process the thumbnails are made.
  ///   - folder: The folder, and its name in the page's links; nil if there is no folder.
  ///   - isStopped: Called before each picture; if it returns true, the report is stopped.
  ///   - progress: Called on any thread with the number of pictures done and the number of all pictures.
  /// - Returns: The page; nil if the report was stopped.
  /// - Throws: ``LarderError`` when the cache cannot be read, or when a thumbnail cannot be written.
  package static func make(
    _ reader: CatalogReader,
    _ language: PageLanguage,
    _ clock: PageClock,
    since: UnixTime?,
    advice: @escaping ReportAdvice,
    pictures: any PictureWorking,
    folder: (folder: PictureFolder, name: String)?,
    isStopped: @escaping @Sendable () -> Bool,
    progress: @escaping @Sendable (Int, Int) -> Void
  ) throws -> Made? {
    let data = try ReportData(reader, since: since)
    let page = ReportPage(data: data, language: language, clock: clock, advice: advice)
    let place: PictureBook.Place =
      page.isInline ? .inline : folder.map { .folder($0.name) } ?? .nowhere
    let book = Mutex(PictureBook(place))
    if place != .nowhere {
      let target = page.isInline ? nil : folder?.folder
      try target?.make()
      let failure = Mutex<LarderError?>(nil)
      Thumbnails(cache: reader.cache, pictures: pictures).make(
        of: page.images,
        isThere: { digest in
          guard let target, target.holds(digest) else { return false }
          book.withLock { $0.add(digest) }
          return true
        },
        isStopped: { isStopped() || failure.withLock { $0 != nil } },
        progress: progress
      ) { digest, bytes in
        guard let target else { return book.withLock { $0.add(digest, bytes) } }
        do throws(LarderError) {
          try target.put(bytes, digest)
          book.withLock { $0.add(digest) }
        } catch {
          failure.withLock { $0 = error }
        }
      }
      if let failure = failure.withLock({ $0 }) { throw failure }
    }
    if isStopped() { return nil }
    let thumbnails = book.withLock { $0 }
    return Made(
      html: try page.html(thumbnails),
      items: data.items.count,
      thumbnails: thumbnails.digests.count,
      files: page.isInline || place == .nowhere ? nil : thumbnails.digests
    )
  }
}
