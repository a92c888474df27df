import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline

/// The template data of the whole report page.
///
/// A text that does not apply, such as a note about a section that is current, is empty.
struct ReportView: PageView {
  static let template = "report"

  /// A figure at the top of the page, with a link to the part that explains the figure.
  struct Tile: Equatable {
    let value: String
    let label: String
    let target: String
    let tone: String
    var time = ""
  }

  /// A section with its cards.
  struct Shelf {
    let anchor: String
    let title: String
    let subtitle: String
    let count: String
    let note: String
    let cards: String
    let speech: String

    init(_ shelf: ReportShelf, cards: String, _ language: PageLanguage) {
      (anchor, title, subtitle) = (shelf.anchor, shelf.title, shelf.subtitle)
      count = language.count(shelf.items.count, "item", "items", "상품")
      note =
        shelf.isStale
        ? language.of(
          "The last run could not update this section: it is shown as last seen.",
          "지난 실행에서 이 섹션을 가져오지 못해 이전 자료를 보여 줍니다."
        ) : ""
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
  let catalog: String
  let lede: String
  let made: MomentView
  let zone: String
  let tiles: [Tile]
  let shelves: [Shelf]
  let changes: ChangesView
  /// The failures of the last run, which are shown before the items.
  let problems: [ProblemView]
  /// Whether the page reports a period.
  ///
  /// If it does, the changes are shown first, and the sizes are left out.
  let isPeriod: Bool
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
    (style, script, data) = (PageAssets.reportStyle, PageAssets.reportScript, sheets)
    policy = PagePolicy.text(script: script, style: style)
    catalog = PlainText.line(report.catalog)
    title = "\(catalog) – \(language.of("Catalog report", "카탈로그 보고서"))"
    made = MomentView(clock.now, clock)
    zone = clock.zone
    self.shelves = shelves
    isPeriod = report.changes.period != nil
    (self.changes, self.problems, self.runs, self.sizes) = (changes, problems, runs, sizes)
    let items = language.count(report.items.count, "item", "items", "상품")
    let sections = language.count(shelves.count, "section", "sections", "섹션")
    let span =
      isPeriod ? language.of("Changed \(changes.span): ", "\(changes.span) 바뀐 상품: ") : ""
    lede =
      span + language.of("\(items) in \(sections), as held on", "\(sections), \(items) · 기준 시각")
    let tiles = Self.tiles(report, changes, problems, sizes, clock, language)
    self.tiles = tiles.filter { report.changes.period == nil || $0.target != "sizes" }
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
        time: when
      ),
      Tile(
        value: changes.isFirst ? "–" : changes.count.grouped,
        label: changes.label,
        target: "changes",
        tone: ""
      ),
      Tile(
        value: failures.grouped,
        label: problems.isEmpty
          ? say("failed or skipped", "실패하거나 건너뜀")
          : say("failed or skipped: see what to do", "실패하거나 건너뜀: 할 일 보기"),
        target: "problems",
        tone: problems.isEmpty ? "good" : problems.contains { $0.tone == "bad" } ? "bad" : "warn"
      ),
      Tile(
        value: sizes.held.grouped,
        label: missing > 0
          ? say(
            "pictures of \(sizes.referenced.grouped)",
            "사진 (전체 \(sizes.referenced.grouped))"
          ) : say("pictures, all of them", "사진 (모두)"),
        target: "sizes",
        tone: missing > 0 ? "warn" : ""
      ),
      Tile(
        value: ByteCount(sizes.bytes).formatted(),
        label: say("of pictures held", "저장된 사진 크기"),
        target: "sizes",
        tone: ""
      ),
    ]
  }
}

extension PageLanguage {
  /// A run's outcome, such as `partial`, in this language.
  func outcome(_ outcome: String?) -> String {
    switch outcome {
    case "complete": of("complete", "완료")
    case "partial": of("partial", "일부 완료")
    case "withheld": of("withheld", "보류")
    case "failed": of("failed", "실패")
    case "interrupted": of("interrupted", "중단")
    default: of("not ended", "끝나지 않음")
    }
  }

  /// The label of an item's field, such as `salePrice`.
  func field(_ name: String) -> String {
    switch name {
    case "section": of("section", "섹션")
    case "title": of("title", "제목")
    case "description": of("description", "설명")
    case "badges": of("badges", "배지")
    case "deliveryTypes": of("delivery", "배송")
    case "normalPrice": of("normal price", "정가")
    case "salePrice": of("sale price", "판매가")
    case "thumbnail": of("picture", "사진")
    case "images": of("pictures", "사진들")
    default: name
    }
  }

  /// The label of a picture's role, such as `gallery`.
  func role(_ role: String) -> String {
    switch role {
    case "thumbnail": of("In the list", "목록 사진")
    case "top": of("On top", "대표 사진")
    case "gallery": of("Gallery", "갤러리")
    default: of("Description", "상세 설명")
    }
  }
}

/// The template data of the report's part "size by section": the bytes of each section's pictures.
struct SizesView {
  struct Row {
    let title: String
    let speech: String
    let items: String
    let pictures: String
    let size: String
    /// The length of the section's bar in the drawing, from 0 to 160.
    let bar: Int
  }

  let summary: String
  let rows: [Row]
  /// Whether some pictures belong to several sections, so that the sizes add up to more than the whole.
  let isShared: Bool
  /// The number of pictures in the cache; each URL counts once.
  let held: Int
  /// The number of pictures that the catalog refers to; each URL counts once.
  let referenced: Int
  /// The size of all pictures in the cache, in bytes; each URL counts once.
  let bytes: Int64

  init(_ shelves: [ReportShelf], _ language: PageLanguage) {
    var all: [String: Int64] = [:]
    var urls: Set<String> = []
    var sum: Int64 = 0
    let sizes: [(shelf: ReportShelf, pictures: Int, bytes: Int64)] = shelves.map { shelf in
      var own: [String: Int64] = [:]
      for image in shelf.items.lazy.flatMap(\.pictures) {
        urls.insert(image.url)
        if image.state == .held { own[image.url] = image.bytes ?? 0 }
      }
      all.merge(own) { first, _ in first }
      let bytes: Int64 = own.values.reduce(0, +)
      sum += bytes
      return (shelf, own.count, bytes)
    }
    bytes = all.values.reduce(0, +)
    (held, referenced, isShared) = (all.count, urls.count, sum > bytes)
    let most = sizes.map(\.bytes).max() ?? 0
    rows = sizes.map { shelf, pictures, bytes in
      let share = most > 0 ? Double(bytes) / Double(most) : 0
      return Row(
        title: shelf.title,
        speech: shelf.speech,
        items: shelf.items.count.grouped,
        pictures: pictures.grouped,
        size: ByteCount(bytes).formatted(),
        bar: max(bytes > 0 ? 2 : 0, Int(160 * share))
      )
    }
    let pictures = language.count(held, "picture", "pictures", "사진")
    summary = "\(pictures), \(ByteCount(bytes).formatted())"
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
