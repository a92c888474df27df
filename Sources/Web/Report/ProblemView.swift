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

    init(name: String = "", number: Int? = nil, text: String = "", url: String? = nil) {
      (self.name, self.number, self.text) = (name, number, text)
      self.url = url.map(PlainText.line) ?? ""
      link = url.flatMap(PageText.link) ?? ""
    }
  }

  /// The cause of a problem.
  ///
  /// The template has its meaning and the advice, in words for the owner of a shop.
  enum Cause: String, PageCase {
    case gone, denied, unreachable, certificate, proxy, noPicture, mapping, address, ended, space
    case fault, other
    /// An item, or a value of an item, that cannot be read.
    case item, value
    /// Files whose turn did not come before the run ended.
    case unfinished

    /// The cause for a failure's reason, such as `http-404`.
    ///
    /// The page docs/reference.md lists the reasons.
    init(reason: String) {
      self =
        switch reason {
        case "http-404", "http-410": .gone
        case "http-401", "http-403": .denied
        case "dns-failed", "connect-refused", "connect-failed", "timeout-connect", "timeout-idle",
          "timeout-total", "circuit-open", "asked-to-wait", "reset", "truncated":
          .unreachable
        case "tls-expired", "tls-host", "tls-untrusted", "tls-failed": .certificate
        case "proxy-failed", "proxy-auth", "proxy-refused": .proxy
        case "not-a-picture": .noPicture
        case "undecodable", "field-missing", "details-missing": .mapping
        case "url-invalid", "scheme-refused", "address-refused", "redirect-loop",
          "too-many-redirects", "redirect-downgrade", "redirect-invalid":
          .address
        case "deadline", "bytes-limit", "keep-free", "cancelled": .ended
        case "disk", "out-of-memory": .space
        case _ where reason.hasPrefix("http-5") || reason == "http-429": .fault
        default: .other
        }
    }
  }

  let title: String
  var tone = "warn"
  var cause: Cause?
  /// The words of the run about the problem.
  var meaning = ""
  /// Advice that names options of commands.
  var advice = ""
  var rows: [Row] = []
  var more = ""

  /// At most this many failures of each kind are listed; the others are only counted.
  fileprivate static let most = 50

  /// All problems of a run; problems of whole sections come first.
  static func all(
    _ report: SyncReport?,
    cards: ReportCards,
    advice: @escaping ReportAdvice,
    _ language: PageLanguage
  ) -> [ProblemView] {
    report.map {
      let problems = Problems(report: $0, cards: cards, advice: advice, language: language)
      return problems.sections + problems.details + problems.failures + problems.skipped
        + problems.unfinished
    } ?? []
  }
}

/// Makes the problems of a run, kind by kind.
private struct Problems {
  let report: SyncReport
  let cards: ReportCards
  let advice: ReportAdvice
  let language: PageLanguage

  private func say(_ english: String, _ korean: String) -> String { language.of(english, korean) }

  private func title(of section: String) -> String? {
    report.sections.first { $0.key == section }.map { PlainText.line($0.title) }
  }

  var sections: [ProblemView] {
    report.sections.compactMap { section in
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
        title: title,
        tone: section.source == .failed ? "bad" : "warn",
        meaning: PlainText.line(section.error ?? section.warning ?? ""),
        advice: section.remedy.flatMap(advice) ?? ""
      )
    }
  }

  var details: [ProblemView] {
    guard let error = report.details.error else { return [] }
    return [
      ProblemView(
        title: say("Details keep fields that are missing at the shop", "상세 정보의 일부를 이전 값으로 유지"),
        meaning: PlainText.line(error),
        advice: report.details.remedy.flatMap(advice) ?? ""
      )
    ]
  }

  /// The failures by stage and reason: new ones before known ones, and the most frequent ones of a stage first.
  var failures: [ProblemView] {
    let known = (report.failureCounts(known: false), report.failureCounts(known: true))
    let order: [SyncReport.Stage] = [.section, .detail, .picture]
    let groups = Dictionary(grouping: report.failures) {
      [$0.stage.rawValue, $0.reason, "\($0.isKnown)"]
    }.values.map { failures in
      let first = failures[0]
      let counts = first.isKnown ? known.1 : known.0
      let count = counts[first.stage]?[first.reason] ?? failures.count
      let stage = order.firstIndex(of: first.stage) ?? 0
      let place = (first.isKnown ? 1 : 0, stage, -count, first.reason)
      return (first: first, count: count, place: place, failures: failures)
    }
    return groups.sorted { $0.place < $1.place }.map { first, count, _, failures in
      let rows = failures.prefix(ProblemView.most).map(row)
      return ProblemView(
        title: "\(stage(first.stage, first.isKnown, count)) · \(first.reason)",
        tone: first.stage == .picture || first.isKnown ? "warn" : "bad",
        cause: .init(reason: first.reason),
        advice: first.remedy.flatMap(advice) ?? "",
        rows: rows,
        more: language.more(count - rows.count)
      )
    }
  }

  private func row(_ failure: SyncReport.Failure) -> ProblemView.Row {
    let isSection = failure.stage == .section
    let card = isSection ? nil : failure.id.flatMap { cards[$0.exact] }
    let title = isSection ? failure.id.flatMap(title(of:)) : card?.title
    return ProblemView.Row(
      name: title ?? failure.id.map(PlainText.line) ?? "",
      number: card?.number,
      text: failure.detail.map(PlainText.line) ?? "",
      url: failure.url
    )
  }

  /// The number of failures with their noun, such as `3 pictures`.
  ///
  /// If an earlier run has reported the failures already, it is `3 known failing pictures`.
  private func stage(_ stage: SyncReport.Stage, _ isKnown: Bool, _ count: Int) -> String {
    let (noun, korean) =
      switch stage {
      case .section: ("section request", "섹션 요청")
      case .detail: ("detail", "상세 정보")
      case .picture: ("picture", "사진")
      }
    let isKnown = isKnown && stage != .section
    let (known, knownKorean) = isKnown ? ("known failing ", "이미 알려진 ") : ("", "")
    return language.count(count, known + noun, known + noun + "s", knownKorean + korean)
  }

  var skipped: [ProblemView] {
    let items = report.sections.reduce(0) { $0 + $1.skipped }
    let fields = report.skipped.count + report.skippedOmitted - items
    return [
      skipped(.item, items) { language.count($0, "item skipped", "items skipped", "건너뛴 상품") },
      skipped(.field, fields) { language.count($0, "value left out", "values left out", "빠진 값") },
    ].filter { !$0.rows.isEmpty }
  }

  private func skipped(
    _ loss: SkippedItem.Loss,
    _ count: Int,
    _ title: (Int) -> String
  ) -> ProblemView {
    let all = report.skipped.filter { $0.lost == loss }
    let count = max(count, all.count)
    let rows = all.prefix(ProblemView.most).map(row)
    return ProblemView(
      title: title(count),
      cause: loss == .item ? .item : .value,
      rows: rows,
      more: language.more(count - rows.count)
    )
  }

  private func row(_ skipped: SyncReport.Skipped) -> ProblemView.Row {
    let card = skipped.id.flatMap { cards[$0.exact] }
    let section = title(of: skipped.section) ?? PlainText.line(skipped.section)
    let place = skipped.index.map { say("\(section), item \($0 + 1)", "\(section) \($0 + 1)번째") }
    let name = [place ?? section, skipped.id].compactMap { $0 }.map(PlainText.line)
    let what = [skipped.field, skipped.reason].compactMap { $0 }.joined(separator: ": ")
    return ProblemView.Row(
      name: card?.title ?? name.joined(separator: " · "),
      number: card?.number,
      text: PlainText.line(what)
    )
  }

  var unfinished: [ProblemView] {
    let count = report.unfinishedCount
    guard count > 0 else { return [] }
    let rows = report.unfinished.prefix(ProblemView.most).map { ProblemView.Row(url: $0.url) }
    return [
      ProblemView(
        title: language.count(count, "file not fetched yet", "files not fetched yet", "남은 요청"),
        cause: .unfinished,
        rows: rows,
        more: language.more(count - rows.count)
      )
    ]
  }
}
