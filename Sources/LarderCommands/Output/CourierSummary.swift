import Orders

/// What `order send` did, for people.
struct CourierSummary {
  private let report: CourierReport
  private let host: String

  init(_ report: CourierReport, host: String) {
    self.report = report
    self.host = host
  }

  private var queued: Int { report.counts[.queued] + report.counts[.sending] }

  /// One line of counts.
  var text: String {
    var parts = ["\(report.delivered.count) delivered"]
    if queued > 0 { parts.append("\(queued) queued") }
    if !report.held.isEmpty { parts.append("\(report.held.count) held") }
    if !report.dead.isEmpty { parts.append("\(report.dead.count) dead") }
    return "\(host): " + parts.joined(separator: ", ")
  }

  /// What is wrong or wants a decision, a sentence each.
  var warnings: [String] {
    var warnings: [String] = []
    for trouble in report.troubles {
      let reason = trouble.delivery.lastError ?? "unsent"
      switch trouble.delivery.state {
      case .dead:
        warnings.append(
          "order \(trouble.order) is dead: \(reason); larder order replay \(trouble.order) "
            + "sends it again"
        )
      case .queued where report.stopped == nil:
        let when = trouble.delivery.nextAttempt.map { ", next attempt \($0.text)" } ?? ""
        warnings.append("order \(trouble.order) is not delivered yet: \(reason)\(when)")
      default: break
      }
    }
    warnings += report.held.map { order in
      "order \(order) may have arrived, and no answer says whether it did. Look at \(host): if it is "
        + "there, larder order replay --arrived \(order); if not, larder order replay \(order), or "
        + "larder order send --on-ambiguous resend for all"
    }
    if let reason = report.stopped {
      warnings.append(
        "the webhook at \(host) takes nothing any more: \(reason); give another URL, or "
          + "larder order send --resume once it does"
      )
    } else if let reason = report.unreachable {
      warnings.append("the webhook at \(host) cannot be reached: \(reason)")
    } else if report.wasInterrupted, queued > 0 {
      warnings.append(
        "interrupted: \(Quantities.count(queued, "order")) still queued; larder order send goes on"
      )
    } else if report.troubles.isEmpty, let due = report.nextDue {
      warnings.append("the next order is due \(due.text)")
    }
    return warnings
  }
}
