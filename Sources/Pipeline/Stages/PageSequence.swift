import Cache
import Catalog
import Transport

/// Which page of a source follows another, in a run and in its plan.
struct PageSequence {
  /// The catalog's rule; nil when its sources have one page.
  let rule: PagingRule?
  /// Where the pages are.
  let index: Index
  /// How URLs are read.
  let parser: any URLParsing

  /// What follows a page that was just read.
  enum Step: Sendable {
    /// No page: the source is complete.
    case complete
    /// No page: the last one brought nothing new. The feed loops, or serves the same page for every request.
    case repeats
    /// A page to read.
    case next(DocumentSource)
    /// A page behind the last one that may be read, and a sentence that says so.
    case beyondLimit(DocumentSource, String)
    /// Text that is no URL: the page cannot be had.
    case invalid(TransferFailure)
  }

  /// What follows the last page of a reading, which is taken in unless it repeats earlier ones.
  func step(after reading: SectionReading) throws(CacheError) -> Step {
    guard let rule, let last = reading.pages.last else {
      return .complete
    }
    if reading.pages.count == 1 { _ = reading.progress.visit(reading.start.name) }
    guard try reading.progress.take(last.document, last.sections, of: index) else {
      return .repeats
    }
    guard let text = last.document.next, reading.progress.visit(text) else { return .complete }
    let next: DocumentSource
    do throws(TransferFailure) {
      next = try source(at: text, after: reading.next)
    } catch {
      return .invalid(error)
    }
    guard reading.pages.count < rule.limit else {
      return .beyondLimit(
        next,
        "cannot read all of section \(reading.key ?? "all"): it goes on behind \(rule.limit) pages; "
          + "raise limit under paging in the catalog file"
      )
    }
    return .next(next)
  }

  /// The page that the index names by this text.
  private func source(
    at text: String,
    after last: DocumentSource
  ) throws(TransferFailure) -> DocumentSource {
    guard let value = NextPage.value(in: text), let place = rule?.place,
      case .query(let query) = last
    else { return last.moved(to: try parser.parse(text, relativeTo: nil)) }
    return .query(try query.page(kept: value, at: place, parser))
  }
}

extension FailureReason {
  /// A listing that has more pages than the catalog file lets larder read.
  static let pageLimit = FailureReason(rawValue: "page-limit")
}
