import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline

/// The template data of the whole report page.
struct ReportView: PageView {
  static let template = "report"

  let language: String
  let policy: String
  let style = PageAssets.reportStyle
  let script = PageAssets.reportScript
  /// The data of the script, as JSON.
  let data: String
  /// The title of the browser's window.
  let title: String
  let catalog: String
  /// The numbers of items and sections, such as `3 items`.
  let items, sections: String
  let made: MomentView
  let zone: String
  /// The outcome of the last run that ended, its CSS class, and the time of its end.
  let outcome, outcomeTone, ended: String
  /// The number of failures and skipped items of the last run, and its CSS class.
  let failures, failureTone: String
  let shelves: [ReportShelf]
  let changes: ChangesView
  /// The failures of the last run, which are shown before the items.
  let problems: [ProblemView]
  /// Whether the page reports a period.
  ///
  /// If it does, the changes are shown first, and the sizes are left out.
  let isPeriod: Bool
  let runs: RunsView
  let sizes: SizesView

  /// Creates the view.
  ///
  /// - Parameters:
  ///   - page: The page, with its data.
  ///   - shelves: The sections with their cards.
  ///   - cards: The page's cards.
  ///   - sheets: The data of the script.
  init(_ page: ReportPage, _ shelves: [ReportShelf], _ cards: ReportCards, sheets: String) {
    let (report, clock, language) = (page.data, page.clock, page.language)
    self.language = language.rawValue
    policy = PagePolicy.text(script: script, style: style)
    data = sheets
    catalog = PlainText.line(report.catalog)
    title = "\(catalog) – \(language.of("Catalog report", "카탈로그 보고서"))"
    items = language.count(report.items.count, "item", "items", "상품")
    sections = language.count(shelves.count, "section", "sections", "섹션")
    made = MomentView(clock.now, clock)
    zone = clock.zone
    self.shelves = shelves
    isPeriod = report.since != nil
    let run = report.runs.first { $0.report != nil }
    outcome = language.outcome(run?.time.outcome)
    outcomeTone = RunsView.tone(run?.time.outcome)
    ended = (run?.time.finished).map(clock.text) ?? "–"
    let failed = run?.report.map { $0.failureCount + $0.skipped.count + $0.skippedOmitted }
    failures = (failed ?? 0).grouped
    problems = ProblemView.all(run?.report, cards: cards, advice: page.advice, language)
    failureTone =
      problems.isEmpty ? "good" : problems.contains { $0.tone == "bad" } ? "bad" : "warn"
    changes = ChangesView(report, cards, language, clock)
    runs = RunsView(report, clock, language)
    sizes = SizesView(shelves)
  }
}

extension PageLanguage {
  /// A run's outcome, such as `partial`, in this language.
  func outcome(_ outcome: String?) -> String {
    let korean = [
      "complete": "완료", "partial": "일부 완료", "withheld": "보류", "failed": "실패", "interrupted": "중단",
    ]
    guard let outcome, let word = korean[outcome] else { return of("not ended", "끝나지 않음") }
    return of(outcome, word)
  }
}

/// The template data about the catalog's pictures: how many there are, and how large those in the cache are.
struct SizesView {
  /// Whether the cache has all pictures that the catalog refers to.
  let isWhole: Bool
  /// The numbers of pictures in the cache and in the catalog; each URL counts once.
  let held, referenced: String
  /// The size of all pictures in the cache; each URL counts once.
  let size: String

  init(_ shelves: [ReportShelf]) {
    var all: [String: Int64] = [:]
    var urls: Set<String> = []
    for image in shelves.lazy.flatMap(\.items).flatMap(\.pictures) {
      urls.insert(image.url)
      if image.state == .held { all[image.url] = image.bytes ?? 0 }
    }
    isWhole = all.count == urls.count
    (held, referenced) = (all.count.grouped, urls.count.grouped)
    size = ByteCount(all.values.reduce(0, +)).formatted()
  }
}

/// The content security policy of a report, which allows its own script and style sheet, and pictures of its own
/// folder.
enum PagePolicy {
  /// A policy that allows a script and a style sheet by their digests. (W3C, CSP level 3)
  ///
  /// It names `file:`, because `'self'` has no effect in a page that is opened from a disk.
  static func text(script: String, style: String) -> String {
    """
    default-src 'none'; img-src 'self' file: data:; script-src '\(digest(script))'; \
    style-src '\(digest(style))'; base-uri 'none'; form-action 'none'
    """
  }

  private static func digest(_ text: String) -> String {
    "sha256-" + Data(ContentDigest.sha256(Array(text.utf8))).base64EncodedString()
  }
}
