import Base
import Catalog
import Pipeline

/// Returns the English advice for a remedy, such as "try again with --timeout 60s"; nil if there is none.
///
/// The commands supply this function, because this module does not know their options.
package typealias ReportAdvice = @Sendable (SyncReport.Remedy) -> String?

/// A block of the report's part "problems": the failures of one kind in the last run, with advice.
struct ProblemView {
  /// One failure: for example a picture that could not be fetched, or an item that could not be read.
  struct Row: Equatable {
    let name, text, url, link: String
    /// The number of the item's card; nil if the item is not on the page.
    let number: Int?

    init(name: String?, number: Int?, text: String?, url: String?) {
      (self.name, self.number, self.text) = (name ?? "", number, text ?? "")
      self.url = url.map(PlainText.line) ?? ""
      link = url.flatMap(PageText.link) ?? ""
    }
  }

  let title: String
  let tone: String
  let meaning: String
  let advice: String
  let rows: [Row]
  let more: String

  /// At most this many failures of each kind are listed; the others are only counted.
  private static let most = 50

  private init(
    _ title: String,
    tone: String = "warn",
    meaning: String = "",
    advice: String = "",
    rows: [Row] = [],
    of count: Int? = nil,
    _ language: PageLanguage
  ) {
    (self.title, self.tone, self.meaning, self.advice) = (title, tone, meaning, advice)
    let shown = rows.prefix(Self.most)
    self.rows = Array(shown)
    let rest = (count ?? rows.count) - shown.count
    let number = rest.grouped
    more = rest > 0 ? language.of("and \(number) more", "외 \(number)건") : ""
  }

  /// All problems of a run; problems of whole sections come first.
  static func all(
    _ report: SyncReport?,
    cards: [String: (number: Int, title: String)],
    advice: ReportAdvice,
    _ language: PageLanguage
  ) -> [ProblemView] {
    guard let report else { return [] }
    let say = language.of
    let titles = Dictionary(report.sections.map { ($0.key, PlainText.line($0.title)) }) { a, _ in a
    }
    var problems = report.sections.compactMap { section in
      Self.section(section, advice, language)
    }
    if let error = report.details.error {
      problems.append(
        ProblemView(
          say("Details keep fields that are missing at the shop", "상세 정보의 일부를 이전 값으로 유지"),
          meaning: PlainText.line(error),
          advice: report.details.remedy.flatMap(advice) ?? "",
          language
        )
      )
    }
    let groups = Dictionary(grouping: report.failures) {
      "\($0.stage.rawValue) \($0.reason) \($0.isKnown)"
    }
    let counts = (report.failureCounts(known: false), report.failureCounts(known: true))
    func count(_ failures: [SyncReport.Failure]) -> Int {
      let counts = failures[0].isKnown ? counts.1 : counts.0
      return counts[failures[0].stage]?[failures[0].reason] ?? failures.count
    }
    let order: [SyncReport.Stage] = [.section, .detail, .picture]
    let sorted = groups.values.sorted {
      let left = order.firstIndex(of: $0[0].stage) ?? 0
      let right = order.firstIndex(of: $1[0].stage) ?? 0
      let known = ($0[0].isKnown ? 1 : 0, $1[0].isKnown ? 1 : 0)
      return (known.0, left, -count($0), $0[0].reason) < (known.1, right, -count($1), $1[0].reason)
    }
    for failures in sorted {
      let first = failures[0]
      let words = ReasonWords(first.reason, language)
      let helps = first.remedy.flatMap(advice).map { " " + $0 } ?? ""
      problems.append(
        ProblemView(
          "\(Self.stage(first, count(failures), language)) · \(first.reason)",
          tone: first.stage == .picture || first.isKnown ? "warn" : "bad",
          meaning: words.meaning,
          advice: words.advice + helps,
          rows: failures.prefix(Self.most).map { failure in
            let card = failure.stage == .section ? nil : failure.id.flatMap { cards[$0] }
            let title = failure.id.flatMap { titles[$0] }
            return Row(
              name: card?.title ?? (failure.stage == .section ? title : nil)
                ?? failure.id.map(PlainText.line),
              number: card?.number,
              text: failure.detail.map(PlainText.line),
              url: failure.url
            )
          },
          of: count(failures),
          language
        )
      )
    }
    return problems + skipped(report, cards, titles, language) + unfinished(report, language)
  }

  private static func section(
    _ section: SyncReport.Section,
    _ advice: ReportAdvice,
    _ language: PageLanguage
  ) -> ProblemView? {
    let say = language.of
    let name = PlainText.line(section.title)
    let title: String
    switch section.source {
    case .stale: title = say("\(name) is shown as last seen", "\(name): 이전 자료를 보여 줍니다")
    case .withheld:
      title = say("\(name): items that the shop dropped are kept", "\(name): 사라진 상품을 보류했습니다")
    case .failed: title = say("\(name) could not be fetched", "\(name): 가져오지 못했습니다")
    case .network, .unchanged:
      guard section.error != nil || section.warning != nil else { return nil }
      title = name
    }
    return ProblemView(
      title,
      tone: section.source == .failed ? "bad" : "warn",
      meaning: PlainText.line(section.error ?? section.warning ?? ""),
      advice: section.remedy.flatMap(advice) ?? "",
      language
    )
  }

  private static func skipped(
    _ report: SyncReport,
    _ cards: [String: (number: Int, title: String)],
    _ titles: [String: String],
    _ language: PageLanguage
  ) -> [ProblemView] {
    let say = language.of
    return [SkippedItem.Loss.item, .field].compactMap { loss in
      let rows = report.skipped.filter { $0.lost == loss }
      guard !rows.isEmpty else { return nil }
      let isItem = loss == .item
      let items = report.sections.reduce(0) { $0 + $1.skipped }
      let all = report.skipped.count + report.skippedOmitted
      let count = isItem ? max(items, rows.count) : max(all - items, rows.count)
      return ProblemView(
        isItem
          ? language.count(count, "item skipped", "items skipped", "건너뛴 상품")
          : language.count(count, "value left out", "values left out", "빠진 값"),
        meaning: isItem
          ? say("The shop lists this in a form that cannot be read.", "읽을 수 없는 형태의 상품입니다.")
          : say("Shown without it, because it cannot be read.", "읽을 수 없어 이 값 없이 보여 줍니다."),
        advice: say(
          "Correct it at the shop, or the paths in the catalog file.",
          "쇼핑몰의 자료나 카탈로그 파일의 경로를 고쳐 주세요."
        ),
        rows: rows.prefix(Self.most).map { row in
          let card = row.id.flatMap { cards[$0] }
          let section = titles[row.section] ?? PlainText.line(row.section)
          let place = row.index.map {
            say("\(section), item \($0 + 1)", "\(section) \($0 + 1)번째")
          }
          let what = [row.field, row.reason].compactMap { $0 }.joined(separator: ": ")
          return Row(
            name: card?.title
              ?? [place ?? section, row.id].compactMap { $0 }.map(PlainText.line)
              .joined(separator: " · "),
            number: card?.number,
            text: PlainText.line(what),
            url: nil
          )
        },
        of: count,
        language
      )
    }
  }

  private static func unfinished(_ report: SyncReport, _ language: PageLanguage) -> [ProblemView] {
    guard !report.unfinished.isEmpty else { return [] }
    return [
      ProblemView(
        language.count(
          report.unfinished.count,
          "file not fetched yet",
          "files not fetched yet",
          "남은 요청"
        ),
        meaning: language.of("The run ended before these were fetched.", "차례가 오기 전에 실행이 끝났습니다."),
        advice: language.of("The next sync fetches them.", "다음 동기화가 이어서 합니다."),
        rows: report.unfinished.prefix(Self.most).map {
          Row(name: nil, number: nil, text: nil, url: $0.url)
        },
        of: report.unfinished.count,
        language
      )
    ]
  }

  /// The number of failures with their noun, such as `3 pictures`.
  ///
  /// If an earlier run has reported the failures already, it is `3 known failing pictures`.
  private static func stage(
    _ failure: SyncReport.Failure,
    _ count: Int,
    _ language: PageLanguage
  ) -> String {
    switch (failure.stage, failure.isKnown) {
    case (.section, _): language.count(count, "section request", "section requests", "섹션 요청")
    case (.detail, false): language.count(count, "detail", "details", "상세 정보")
    case (.detail, true):
      language.count(count, "known failing detail", "known failing details", "이미 알려진 상세 정보")
    case (.picture, false): language.count(count, "picture", "pictures", "사진")
    case (.picture, true):
      language.count(count, "known failing picture", "known failing pictures", "이미 알려진 사진")
    }
  }
}

/// The meaning of a failure's reason, such as `http-404`, in words for the owner of a shop, with advice.
///
/// The page docs/reference.md lists the reasons. Advice that names options of commands is in ``ReportAdvice``.
struct ReasonWords: Equatable {
  let meaning: String
  let advice: String

  init(_ reason: String, _ language: PageLanguage) {
    let say = language.of
    let retry = say("The next sync tries again.", "다음 동기화가 다시 시도합니다.")
    switch reason {
    case "http-404", "http-410":
      meaning = say("The shop lists it but does not have it.", "쇼핑몰이 안내한 주소에 파일이 없습니다.")
      advice = say("Tell the shop, or correct its address there.", "쇼핑몰에 알리거나 주소를 고쳐 주세요.")
    case "http-401", "http-403":
      meaning = say("The shop refuses access to it.", "쇼핑몰이 접근을 거부했습니다.")
      advice = say(
        "Check headers and token in the catalog file, and their values.",
        "카탈로그 파일의 headers와 token 값을 확인해 주세요."
      )
    case "dns-failed", "connect-refused", "connect-failed", "timeout-connect", "timeout-idle",
      "timeout-total", "circuit-open", "asked-to-wait", "reset", "truncated":
      meaning = say(
        "The host could not be reached, or the connection broke.",
        "서버에 연결할 수 없거나 연결이 끊겼습니다."
      )
      advice = say("Check the network and the shop. ", "네트워크와 쇼핑몰 상태를 확인해 주세요. ") + retry
    case "tls-expired", "tls-host", "tls-untrusted", "tls-failed":
      meaning = say("The shop's certificate is not valid.", "쇼핑몰의 인증서에 문제가 있습니다.")
      advice = say("Have the shop renew its certificate.", "쇼핑몰에 인증서 갱신을 요청해 주세요.")
    case "proxy-failed", "proxy-auth", "proxy-refused":
      meaning = say("The proxy refused the request.", "프록시가 통과시키지 않았습니다.")
      advice = say("Check the proxy and its password.", "프록시와 비밀번호를 확인해 주세요.")
    case "not-a-picture":
      meaning = say("The response is not a picture.", "받은 파일이 사진이 아닙니다.")
      advice = say("Look at the address in a browser.", "브라우저에서 주소를 열어 확인해 주세요.")
    case "undecodable", "field-missing", "details-missing":
      meaning = say(
        "The shop's data does not match the catalog file.",
        "쇼핑몰 자료가 카탈로그 파일의 설정과 다릅니다."
      )
      advice = say("Correct the paths in the catalog file.", "카탈로그 파일의 경로를 고쳐 주세요.")
    case "url-invalid", "scheme-refused", "address-refused", "redirect-loop",
      "too-many-redirects", "redirect-downgrade", "redirect-invalid":
      meaning = say("The address is not safe to fetch.", "안전하게 열 수 없는 주소입니다.")
      advice = say("Correct the address at the shop.", "쇼핑몰에서 주소를 고쳐 주세요.")
    case "deadline", "bytes-limit", "keep-free", "cancelled":
      meaning = say("The run ended before this was fetched.", "차례가 오기 전에 실행이 끝났습니다.")
      advice = retry
    case "disk", "out-of-memory":
      meaning = say("This machine had no space for it.", "이 컴퓨터에 공간이 부족합니다.")
      advice = say("Free some space and sync again.", "공간을 확보한 뒤 다시 동기화해 주세요.")
    case _ where reason.hasPrefix("http-5") || reason == "http-429":
      meaning = say("The shop had a fault.", "쇼핑몰 서버에 문제가 있었습니다.")
      advice = retry
    default:
      meaning = ""
      advice = retry
    }
  }
}
