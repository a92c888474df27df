import Cache
import Imaging
import Pipeline
import Synchronization

/// Reads a cache, makes the small pictures, and then the page.
package struct ReportRun: Sendable {
  /// What was made.
  package struct Made: Sendable {
    /// The page.
    package var html: String
    /// How many items it shows.
    package var items: Int
    /// How many small pictures it has, and how many of them were made anew.
    package var thumbnails: Int
    package var thumbnailsMade: Int
    /// The digests of the pictures beside it; nil when they stand in the page.
    package var files: [String]?
  }

  private let reader: CatalogReader
  private let language: PageLanguage
  private let clock: PageClock
  private let advice: ReportAdvice
  private let pictures: any PictureWorking

  /// A run on a cache, whose small pictures are made where `pictures` says.
  package init(
    _ reader: CatalogReader,
    _ language: PageLanguage,
    _ clock: PageClock,
    advice: ReportAdvice,
    pictures: any PictureWorking = PicturesHere()
  ) {
    self.pictures = pictures
    (self.reader, self.language, self.clock, self.advice) = (reader, language, clock, advice)
  }

  /// Makes the page.
  ///
  /// Beyond ``ReportPage/mostInline`` items its pictures are put into `folder` first, so that a page
  /// never names one that is not there; without a folder such a page has none.
  ///
  /// - Parameters:
  ///   - folder: the folder, and its name as the page gives it; nil when there can be none.
  ///   - isStopped: asked before each picture.
  ///   - progress: how many of how many pictures were looked at, on any thread.
  /// - Returns: The page; nil when it was stopped.
  /// - Throws: ``CacheError`` when the cache cannot be read, ``PictureFolder/Failure`` when a
  ///   picture cannot be written.
  package func make(
    folder: (folder: PictureFolder, name: String)?,
    isStopped: @escaping @Sendable () -> Bool = { false },
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws -> Made? {
    let data = try ReportData(reader, at: clock.now)
    let page = ReportPage(data, language, clock, advice: advice)
    let place: PictureBook.Place =
      page.isInline ? .inline : folder.map { .folder($0.name) } ?? .nowhere
    let book = Mutex(PictureBook(place))
    var count = (made: 0, all: 0)
    if place != .nowhere {
      let target = page.isInline ? nil : folder?.folder
      try target?.make()
      let failure = Mutex<PictureFolder.Failure?>(nil)
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
        do throws(PictureFolder.Failure) {
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
