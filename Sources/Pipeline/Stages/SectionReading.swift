import Cache
import Catalog

/// A source of sections that is being read, page after page.
struct SectionReading: Sendable {
  /// Its position among the catalog's sources.
  let position: Int
  /// The key of the section that it is; nil when it combines several.
  let key: String?
  /// Its first page.
  let start: DocumentSource
  /// The page that is being read.
  var next: DocumentSource
  /// The pages read so far.
  var pages: [SectionPage] = []
  let progress = PagingProgress()
  /// Whether any page changed.
  var isNew = false
  /// Why there are pages that were not read.
  var ceiling: String?
  /// Why the pages behind the last one could not be had.
  var broken: String?
  /// The error that held pages stand in for, as their origin lets them. (RFC 5861, section 4)
  var excused: String?

  /// The same from its first page on.
  var anew: SectionReading {
    var reading = self
    reading.pages = []
    reading.next = start
    return reading
  }
}

/// One page of a source, decoded now or before.
struct SectionPage: Sendable {
  /// The page's row.
  var document: DocumentEntry
  /// What it was decoded to, in its order.
  var sections: [DecodedSection]
  /// The pictures of each section when the page was decoded just now.
  var references: [String: [PictureReference]]?
}
