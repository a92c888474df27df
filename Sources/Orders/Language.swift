import Base

/// The language of messages and pages about orders.
package enum Language: String, Sendable, CaseIterable, Codable {
  /// Korean.
  case korean = "ko"
  /// English, which is also used instead of unsupported languages.
  case english = "en"

  /// Finds the language of a locale from the locale's name, for example `ko_KR.UTF-8`.
  package init(locale: String) {
    self = locale.prefix { $0.isLetter }.lowercased() == "ko" ? .korean : .english
  }

  /// Chooses the text in this language.
  package func of(_ english: String, _ korean: String) -> String {
    self == .korean ? korean : english
  }

  /// A short text about the items of an order, for example "Tea", "Tea × 2", "Tea and 2 more" or "Tea 외 2건".
  package func summary(of lines: [OrderLine]) -> String {
    guard let first = lines.first else { return "" }
    if lines.count == 1 {
      return first.quantity == 1 ? first.title : "\(first.title) × \(first.quantity)"
    }
    return "\(first.title) \(more(lines.count - 1))"
  }

  /// The number of things that are left out, for example "and 3 more" or "외 3건"; empty if there are none.
  package func more(_ count: Int) -> String {
    count > 0 ? of("and \(count.grouped) more", "외 \(count.grouped)건") : ""
  }

  /// The time since an event as text, for example "3 minutes ago" or "3분 전".
  ///
  /// - Parameter seconds: The number of seconds since the event. If it is less than 60, the text is "just now".
  /// - Returns: The text.
  package func ago(seconds: Int64) -> String {
    let steps: [(size: Int64, korean: String, english: String)] = [
      (31_536_000, "년", "year"), (2_592_000, "개월", "month"), (86_400, "일", "day"),
      (3600, "시간", "hour"), (60, "분", "minute"),
    ]
    for step in steps where seconds >= step.size {
      let count = seconds / step.size
      let plural = count == 1 ? "" : "s"
      return of("\(count) \(step.english)\(plural) ago", "\(count)\(step.korean) 전")
    }
    return of("just now", "방금 전")
  }

  /// The name of an order's state, for example "ready" or "준비 완료".
  package func name(of state: OrderState) -> String {
    guard self == .korean else { return state.rawValue }
    switch state {
    case .ordered: return "주문"
    case .preparing: return "준비 중"
    case .ready: return "준비 완료"
    case .collected: return "수령 완료"
    case .cancelled: return "취소"
    }
  }

  /// The headline of a message about an order's state, for example "New order".
  func headline(of state: OrderState) -> String {
    state == .ordered
      ? of("New order", "새 주문") : of("Order \(state.rawValue)", "주문: \(name(of: state))")
  }
}
