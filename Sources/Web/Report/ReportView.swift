import Base
import Cache
import Catalog
import FoundationEssentials
import Pipeline

/// The template data of the whole report page.
struct ReportView {
  /// A figure at the top, with a link to the part that explains it.
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
        "The last run could not update this section: it is shown as last seen.",
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
  /// Whether there are problems; then they are shown before the items.
  let needsAttention: Bool
  /// Whether the page reports a period; then the changes are shown first, and the sizes are left out.
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
    (style, script, data) = (ReportStyle.css, ReportScript.text, sheets)
    policy = PagePolicy.text(script: script, style: style)
    words = ReportWords(language)
    catalog = PlainText.line(report.catalog)
    title = "\(catalog) – \(words.kind)"
    made = MomentView(clock.now, clock)
    zone = clock.zone
    (self.shelves, hasShelves) = (shelves, !shelves.isEmpty)
    needsAttention = !problems.isEmpty
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
        hasTime: true,
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

/// The labels that every report has.
struct ReportWords {
  let kind, skip, search, sections, nothingFound, emptySection, emptyCatalog: String
  let footer, back, next, close: String
  let changes, problems, noProblems, advice: String
  let runs, days, goodDay, partDay, badDay, noDay: String
  let run, began, outcome, duration, received, requests, failures: String
  let sizes, section, items, picturesHeld, size, share, shared: String

  /// The words in a language.
  init(_ language: PageLanguage) {
    let say = language.of
    kind = say("Catalog report", "카탈로그 보고서")
    skip = say("Skip to the items", "상품으로 건너뛰기")
    search = say("Search items", "상품 검색")
    sections = say("Sections", "섹션")
    nothingFound = say(
      "No item has these words in its title, description, badge or id.",
      "제목, 설명, 배지, 상품 번호에 이 말이 들어 있는 상품이 없습니다."
    )
    emptySection = say("The shop lists nothing here.", "이 섹션에는 상품이 없습니다.")
    emptyCatalog = say("The catalog has no sections.", "카탈로그에 섹션이 없습니다.")
    footer = say(
      "Made by larder from the cache on this machine. The page loads nothing from the network.",
      "이 컴퓨터에 저장된 자료로 larder가 만들었습니다. 이 페이지는 외부에서 아무것도 불러오지 않습니다."
    )
    back = say("Previous", "이전")
    next = say("Next", "다음")
    close = say("Close", "닫기")
    changes = say("What changed", "달라진 점")
    problems = say("What needs attention", "확인할 점")
    noProblems = say(
      "Nothing failed and nothing was skipped.",
      "실패하거나 건너뛴 것이 없습니다."
    )
    advice = say("What to do:", "할 일:")
    runs = say("Runs over time", "실행 기록")
    days = say("Days with a good run", "정상 실행된 날")
    goodDay = say("a complete run", "온전한 실행")
    partDay = say("only partial runs", "일부만 된 실행")
    badDay = say("failed runs only", "실패한 실행만")
    noDay = say("no run", "실행 없음")
    run = say("Run", "실행")
    began = say("Began", "시작")
    outcome = say("Outcome", "결과")
    duration = say("Took", "걸린 시간")
    received = say("Received", "받은 크기")
    requests = say("Requests", "요청")
    failures = say("Failures", "실패")
    sizes = say("Size by section", "섹션별 크기")
    section = say("Section", "섹션")
    items = say("Items", "상품")
    picturesHeld = say("Pictures held", "저장된 사진")
    size = say("Size", "크기")
    share = say("Share", "비율")
    shared = say(
      "A picture that several sections show counts in each, and once in the sum.",
      "여러 섹션에 나오는 사진은 섹션마다 세고, 합계에는 한 번만 셉니다."
    )
  }
}

extension PageLanguage {
  /// A run's outcome in one word.
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

  /// A field of an item.
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

  /// The role of a picture.
  func role(_ role: String) -> String {
    switch role {
    case "thumbnail": of("In the list", "목록 사진")
    case "top": of("On top", "대표 사진")
    case "gallery": of("Gallery", "갤러리")
    default: of("Description", "상세 설명")
    }
  }
}

/// The report's "size by section" part: the bytes of each section's pictures.
struct SizesView {
  /// A section.
  struct Row {
    let title: String
    let speech: String
    let items: String
    let pictures: String
    let size: String
    /// The length of its bar, at most 160.
    let bar: Int
  }

  let summary: String
  let rows: [Row]
  /// Whether sections share pictures.
  let isShared: Bool
  /// The number of held pictures, and of pictures that the catalog refers to; each URL counts once.
  let held: Int
  let referenced: Int
  /// The bytes of the held pictures.
  let bytes: Int64

  /// The sizes of sections.
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

/// The content security policy of a report: its own script, its own style, and pictures of its own folder.
enum PagePolicy {
  /// A policy that allows the script and the style by their digests. (W3C, CSP level 3)
  ///
  /// `file:` is needed because `'self'` does not match in a page that is opened from a disk.
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
