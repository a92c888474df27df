import Catalog
import Pipeline
import Transport

/// The whole page as its template names it.
struct ReportView {
  /// A figure at the head, which leads to the part that explains it.
  struct Tile: Equatable {
    let value: String
    let label: String
    let target: String
    let tone: String
    var hasTime = false
    var time = ""
  }

  /// A section with its cards.
  struct Shelf {
    let anchor: String
    let title: String
    let hasSubtitle: Bool
    let subtitle: String
    let count: String
    let hasNote: Bool
    let note: String
    let isEmpty: Bool
    let cards: String
    let speech: String

    init(_ shelf: ReportShelf, cards: String, _ language: PageLanguage) {
      (anchor, title, subtitle) = (shelf.anchor, shelf.title, shelf.subtitle)
      hasSubtitle = !shelf.subtitle.isEmpty
      count = language.count(shelf.items.count, "item", "items", "상품")
      hasNote = shelf.isStale
      note = language.of(
        "The last run could not take this section: it is shown as last seen.",
        "지난 실행에서 이 섹션을 가져오지 못해 이전 자료를 보여 줍니다."
      )
      isEmpty = shelf.items.isEmpty
      self.cards = cards
      speech = shelf.speech
    }
  }

  let language: String
  let policy: String
  let title: String
  let style: String
  let script: String
  let data: String
  let words: ReportWords
  let catalog: String
  let lede: String
  let made: MomentView
  let zone: String
  let tiles: [Tile]
  let hasShelves: Bool
  let shelves: [Shelf]
  let changes: ChangesView
  let problems: [ProblemView]
  let runs: RunsView
  let sizes: SizesView

  init(
    _ report: ReportData,
    shelves: [Shelf],
    changes: ChangesView,
    problems: [ProblemView],
    runs: RunsView,
    sizes: SizesView,
    sheets: String,
    _ clock: PageClock,
    _ language: PageLanguage
  ) {
    self.language = language.rawValue
    (style, script, data) = (ReportStyle.css, ReportScript.text, sheets)
    policy = PagePolicy.text(script: script, style: style)
    words = ReportWords(language)
    catalog = PlainText.line(report.catalog)
    title = "\(catalog) – \(words.kind)"
    made = MomentView(clock.now, clock)
    zone = clock.zone
    (self.shelves, hasShelves) = (shelves, !shelves.isEmpty)
    (self.changes, self.problems, self.runs, self.sizes) = (changes, problems, runs, sizes)
    let items = language.count(report.items.count, "item", "items", "상품")
    let sections = language.count(shelves.count, "section", "sections", "섹션")
    lede = language.of("\(items) in \(sections), as held on", "\(sections), \(items) · 기준 시각")
    tiles = Self.tiles(report, changes, problems, sizes, clock, language)
  }

  private static func tiles(
    _ report: ReportData,
    _ changes: ChangesView,
    _ problems: [ProblemView],
    _ sizes: SizesView,
    _ clock: PageClock,
    _ language: PageLanguage
  ) -> [Tile] {
    let say = language.of
    let last = report.runs.first { $0.report != nil }
    let outcome = last?.time.outcome
    let when = (last?.time.finished).map(clock.text) ?? "–"
    let missing = sizes.referenced - sizes.held
    let failures = report.last.map { $0.failureCount + $0.skipped.count + $0.skippedOmitted } ?? 0
    return [
      Tile(
        value: language.outcome(outcome),
        label: say("last run", "지난 실행"),
        target: "runs",
        tone: RunsView.tone(outcome),
        hasTime: true,
        time: when
      ),
      Tile(
        value: report.changes.old == nil ? "–" : PageLanguage.number(changes.count),
        label: report.changes.old == nil
          ? say("first run", "첫 실행")
          : say("changes since the run before", "지난번과 달라진 점"),
        target: "changes",
        tone: ""
      ),
      Tile(
        value: PageLanguage.number(failures),
        label: problems.isEmpty
          ? say("failed or skipped", "실패하거나 건너뜀")
          : say("failed or skipped: see what to do", "실패하거나 건너뜀: 할 일 보기"),
        target: "problems",
        tone: problems.isEmpty ? "good" : problems.contains { $0.tone == "bad" } ? "bad" : "warn"
      ),
      Tile(
        value: PageLanguage.number(sizes.held),
        label: missing > 0
          ? say(
            "pictures of \(PageLanguage.number(sizes.referenced))",
            "사진 (전체 \(PageLanguage.number(sizes.referenced)))"
          ) : say("pictures, all of them", "사진 (모두)"),
        target: "sizes",
        tone: missing > 0 ? "warn" : ""
      ),
      Tile(
        value: PageLanguage.bytes(sizes.bytes),
        label: say("of pictures held", "저장된 사진 크기"),
        target: "sizes",
        tone: ""
      ),
    ]
  }
}
