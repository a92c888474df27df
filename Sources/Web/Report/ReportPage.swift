import Catalog
import Dispatch
import Mustache
import Pipeline
import Synchronization
import Transport

/// A catalog as one HTML page that needs nothing from elsewhere.
package struct ReportPage {
  private let data: ReportData
  private let language: PageLanguage
  private let clock: PageClock
  private let advice: ReportAdvice

  /// Items up to which small pictures stand in the page itself.
  package static let mostInline = 2000
  /// Pictures up to which those of details stand in the page too.
  private static let mostInlinePictures = 4000
  /// Pictures up to which those of details are put beside the page.
  private static let mostFiles = 20_000

  /// A page of what a cache holds.
  ///
  /// - Parameters:
  ///   - data: what was read.
  ///   - language: that of the page's own words.
  ///   - clock: when it is made, and in which zone times are told.
  ///   - advice: what flags help.
  package init(
    _ data: ReportData,
    _ language: PageLanguage,
    _ clock: PageClock,
    advice: ReportAdvice
  ) {
    (self.data, self.language, self.clock, self.advice) = (data, language, clock, advice)
  }

  /// Whether the page is small enough to hold its pictures.
  package var isInline: Bool { data.items.count <= Self.mostInline }

  /// Whether pictures of details are shown, not only counted.
  private var showsDetails: Bool {
    let most = isInline ? Self.mostInlinePictures : Self.mostFiles
    var urls: Set<String> = []
    for image in data.items.lazy.flatMap(\.images) {
      urls.insert(image.url)
      if urls.count > most { return false }
    }
    return true
  }

  /// The pictures that the page shows, if they are held.
  package var images: [ShownImage] {
    showsDetails ? data.items.flatMap(\.images) : data.items.compactMap(\.thumbnail)
  }

  /// The page.
  ///
  /// - Parameter book: its pictures.
  /// - Returns: HTML in UTF-8.
  /// - Throws: A parser's error, which the tests of the templates rule out.
  package func html(_ book: PictureBook) throws -> String {
    let library = try ReportTemplates.library()
    let shelves = ReportShelf.all(data)
    let view = view(shelves, cards: cards(shelves, book, library), book)
    return library.render(view, withTemplate: "page") ?? ""
  }

  /// The cards of each section, made on all processors.
  private func cards(
    _ shelves: [ReportShelf],
    _ book: PictureBook,
    _ library: MustacheLibrary
  ) -> [String] {
    let jobs = shelves.enumerated().flatMap { place, shelf in
      stride(from: 0, to: shelf.items.count, by: 250).map { (shelf: place, from: $0) }
    }
    let made = Mutex([Int: String]())
    DispatchQueue.concurrentPerform(iterations: jobs.count) { job in
      let (place, from) = jobs[job]
      let shelf = shelves[place]
      let words = ItemView.Words(
        language,
        within: shelf.speech,
        leavesOut: book.place == .nowhere
      )
      var text = ""
      for offset in from..<min(from + 250, shelf.items.count) {
        let item = shelf.items[offset]
        let picture = book.source(item.thumbnail?.sha256)
        let view = ItemView(item, number: shelf.first + offset, picture: picture, words)
        text += library.render(view, withTemplate: "card") ?? ""
      }
      made.withLock { $0[job] = text }
    }
    var cards = shelves.map { _ in "" }
    made.withLock { made in
      for (job, place) in jobs.enumerated() { cards[place.shelf] += made[job] ?? "" }
    }
    return cards
  }

  private func view(_ shelves: [ReportShelf], cards: [String], _ book: PictureBook) -> ReportView {
    var sheets = SheetData(language, book, showsDetails: book.place != .nowhere && showsDetails)
    var first: [String: (number: Int, title: String)] = [:]
    for shelf in shelves {
      for (offset, item) in shelf.items.enumerated() {
        sheets.add(item, clock)
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
