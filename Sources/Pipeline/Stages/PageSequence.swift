import Cache
import Catalog
import Transport

/// Which page of a source follows another.
struct PageSequence: Sendable {
  let context: RunContext

  /// What follows a page that was just read.
  enum Step: Sendable {
    /// No page: the source is complete.
    case complete
    /// No page: the feed goes in circles, or serves the same page whatever it is asked for. The last one brought
    /// nothing new.
    case repeats
    /// A page to read.
    case next(WebURL)
    /// A page behind the last one that may be read, and a sentence that says so.
    case beyondLimit(WebURL, String)
    /// Text that is no URL.
    case invalid(TransferFailure)
  }

  /// What follows the last page of a reading, which is taken in unless it repeats earlier ones.
  func step(after reading: SectionReading) throws(CacheError) -> Step {
    guard let rule = context.catalog.paging, let last = reading.pages.last else {
      return .complete
    }
    if reading.pages.count == 1 { _ = reading.progress.visit(reading.start.name) }
    guard try reading.progress.take(last.document, last.sections, of: context.index) else {
      return .repeats
    }
    guard let text = last.document.next, reading.progress.visit(text) else { return .complete }
    let url: WebURL
    do throws(TransferFailure) {
      url = try context.transport.parse(text, relativeTo: nil)
    } catch {
      return .invalid(error)
    }
    guard reading.pages.count < rule.limit else {
      return .beyondLimit(
        url,
        "cannot read all of section \(reading.key ?? "all"): it goes on behind \(rule.limit) pages; "
          + "raise limit under paging in the catalog file"
      )
    }
    return .next(url)
  }

  /// The URL of the page that follows one that was just decoded, as its own word or the catalog's rule has
  /// it; what is no URL comes as it is written.
  func nextPage(after reading: SectionReading, listing: DecodedListing) -> String? {
    guard let rule = context.catalog.paging, case .web(let start) = reading.start,
      case .web(let last) = reading.next,
      let text = rule.nextPage(
        afterReading: reading.pages.count + 1,
        of: start.text,
        listing: listing
      )
    else { return nil }
    let url =
      try? rule.isNamedByBody
      ? context.parse(named: text, relativeTo: last)
      : context.transport.parse(text, relativeTo: last)
    return url?.asSecure(as: last).text ?? text
  }
}

extension FailureReason {
  /// A listing that has more pages than the catalog file lets larder read.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}
