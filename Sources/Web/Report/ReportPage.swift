import Base
import Cache
import Catalog
import Dispatch
import Imaging
import Pipeline
import Synchronization

/// A catalog as one self-contained HTML page, for `larder report`.
package struct ReportPage {
  private let data: ReportData
  private let language: PageLanguage
  private let clock: PageClock
  private let advice: ReportAdvice

  /// A page with up to this many items embeds its thumbnails; a larger page has them in a folder.
  package static let mostInline = 2000
  /// A page that embeds its thumbnails includes the pictures of details if there are at most this many pictures in all.
  private static let mostInlinePictures = 4000
  /// A page with a folder includes the pictures of details if there are at most this many pictures in all.
  private static let mostFiles = 20_000

  /// Prepares a page about a catalog.
  ///
  /// - Parameters:
  ///   - data: The report's data.
  ///   - language: The language of the page's own words.
  ///   - clock: The time of the page, and the zone of the times in it.
  ///   - advice: Advice that names flags and commands.
  init(
    _ data: ReportData,
    _ language: PageLanguage,
    _ clock: PageClock,
    advice: @escaping ReportAdvice
  ) {
    (self.data, self.language, self.clock, self.advice) = (data, language, clock, advice)
  }

  /// Whether the page is small enough for embedded thumbnails.
  var isInline: Bool { data.items.count <= Self.mostInline }

  /// Whether pictures of details are shown, not only counted.
  private var showsDetails: Bool {
    let most = isInline ? Self.mostInlinePictures : Self.mostFiles
    var urls: Set<String> = []
    for image in data.items.lazy.flatMap(\.pictures) {
      urls.insert(image.url)
      if urls.count > most { return false }
    }
    return true
  }

  /// The page's pictures; only pictures that are in the cache are shown.
  var images: [ShownPicture] {
    showsDetails ? data.items.flatMap(\.pictures) : data.items.compactMap(\.thumbnail)
  }

  /// Renders the page.
  ///
  /// - Parameter book: The page's thumbnails.
  /// - Returns: HTML in UTF-8.
  /// - Throws: A template parser's error, which the tests rule out.
  func html(_ book: PictureBook) throws -> String {
    let templates = try PageTemplates.shared(language)
    let shelves = ReportShelf.all(data)
    let (cards, lowest) = cards(shelves, book, templates)
    return templates.html(view(shelves, cards: cards, lowest, book))
  }

  /// The HTML of each section's cards, and the lowest price of each item's chart; rendered on all processors.
  private func cards(
    _ shelves: [ReportShelf],
    _ book: PictureBook,
    _ templates: PageTemplates
  ) -> (html: [String], lowest: [PriceLineView.Fact?]) {
    let jobs = shelves.enumerated().flatMap { place, shelf in
      stride(from: 0, to: shelf.items.count, by: 250).map { (shelf: place, from: $0) }
    }
    let made = Mutex([Int: (html: String, lowest: [PriceLineView.Fact?])]())
    DispatchQueue.concurrentPerform(iterations: jobs.count) { job in
      let (place, from) = jobs[job]
      let shelf = shelves[place]
      let words = ItemView.Words(
        language,
        within: shelf.speech,
        leavesOut: book.place == .nowhere
      )
      var (html, lowest) = ("", [PriceLineView.Fact?]())
      for offset in from..<min(from + 250, shelf.items.count) {
        let item = shelf.items[offset]
        let picture = book.source(item.thumbnail?.sha256)
        var view = ItemView(item, number: shelf.first + offset, picture: picture, words)
        view.line = PriceLineView(item, clock, language, own: words.own)
        html += templates.html(view)
        lowest.append(view.line?.lowest)
      }
      made.withLock { $0[job] = (html, lowest) }
    }
    return made.withLock { made in
      var cards = shelves.map { _ in "" }
      for (job, place) in jobs.enumerated() { cards[place.shelf] += made[job]?.html ?? "" }
      return (cards, jobs.indices.flatMap { made[$0]?.lowest ?? [] })
    }
  }

  private func view(
    _ shelves: [ReportShelf],
    cards: [String],
    _ lowest: [PriceLineView.Fact?],
    _ book: PictureBook
  ) -> ReportView {
    var sheets = SheetData(language, book, showsDetails: book.place != .nowhere && showsDetails)
    var first: [String: (number: Int, title: String)] = [:]
    for shelf in shelves {
      for (offset, item) in shelf.items.enumerated() {
        sheets.add(item, lowest: lowest[shelf.first + offset], clock)
        if first[item.item.id] == nil {
          first[item.item.id] = (shelf.first + offset, PlainText.line(item.item.title))
        }
      }
    }
    let speech = PageLanguage.spoken(in: data.items.prefix(200).map(\.item.title))
    let problems = ProblemView.all(data.last, cards: first, advice: advice, language)
    return ReportView(
      data,
      shelves: zip(shelves, cards).map { ReportView.Shelf($0, cards: $1, language) },
      changes: ChangesView(
        data,
        cards: first,
        language,
        clock,
        speech: ReportShelf.speech(speech)
      ),
      problems: problems,
      runs: RunsView(data, clock, language),
      sizes: SizesView(shelves, language),
      sheets: sheets.json,
      clock,
      language
    )
  }
}

/// The `meta` element by which a report of larder is recognized.
package enum ReportMark {
  /// Whether a file that begins with `start` is a report of larder, which a later one may replace.
  package static func isIn(_ start: [UInt8]) -> Bool {
    String(decoding: start, as: UTF8.self).contains(
      "<meta name=\"generator\" content=\"larder report\">"
    )
  }
}

/// Makes a report: reads the cache, makes the thumbnails, renders the page.
///
/// Used by `larder report`.
package struct ReportRun: Sendable {
  /// The result.
  package struct Made: Sendable {
    /// The page.
    package var html: String
    /// How many items the page shows.
    package var items: Int
    /// The number of the page's thumbnails, and the number of those that are new.
    package var thumbnails: Int
    package var thumbnailsMade: Int
    /// The digests of the pictures whose thumbnails are in the folder; nil when the thumbnails are embedded.
    package var files: [String]?
  }

  private let reader: CatalogReader
  private let language: PageLanguage
  private let clock: PageClock
  private let since: UnixTime?
  private let advice: ReportAdvice
  private let pictures: any PictureWorking

  /// Prepares a report of a catalog; `pictures` decides in which process the thumbnails are made.
  ///
  /// `since` is the start of the period to report; nil for the whole catalog.
  package init(
    _ reader: CatalogReader,
    _ language: PageLanguage,
    _ clock: PageClock,
    since: UnixTime? = nil,
    advice: @escaping ReportAdvice,
    pictures: any PictureWorking = PicturesHere()
  ) {
    (self.since, self.pictures) = (since, pictures)
    (self.reader, self.language, self.clock, self.advice) = (reader, language, clock, advice)
  }

  /// Makes the page.
  ///
  /// With more than ``ReportPage/mostInline`` items, the thumbnails are written into `folder` before the page, so that
  /// a page never refers to a missing file. Without a folder such a page has no thumbnails.
  ///
  /// - Parameters:
  ///   - folder: The folder, and its name in the page's links; nil for none.
  ///   - isStopped: Called before each picture; true stops the report.
  ///   - progress: Called on any thread with the number of pictures done and their total.
  /// - Returns: The page; nil if `isStopped` stopped the report.
  /// - Throws: ``LarderError`` when the cache cannot be read, or a
  ///   picture cannot be written.
  package func make(
    folder: (folder: PictureFolder, name: String)?,
    isStopped: @escaping @Sendable () -> Bool = { false },
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws -> Made? {
    let data = try ReportData(reader, at: clock.now, since: since)
    let page = ReportPage(data, language, clock, advice: advice)
    let place: PictureBook.Place =
      page.isInline ? .inline : folder.map { .folder($0.name) } ?? .nowhere
    let book = Mutex(PictureBook(place))
    var count = (made: 0, all: 0)
    if place != .nowhere {
      let target = page.isInline ? nil : folder?.folder
      try target?.make()
      let failure = Mutex<LarderError?>(nil)
      count = Thumbnails(cache: reader.cache, pictures: pictures).make(
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
    let pictures = book.withLock { $0 }
    return Made(
      html: try page.html(pictures),
      items: data.items.count,
      thumbnails: count.all,
      thumbnailsMade: count.made,
      files: page.isInline || place == .nowhere ? nil : pictures.fileDigests
    )
  }
}
