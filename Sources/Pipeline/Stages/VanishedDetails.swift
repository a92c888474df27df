import Cache
import Catalog
import Synchronization

/// The details that were held and that their origin has no more, until all have answered and they can be judged.
final class VanishedDetails: Sendable {
  /// A detail that is gone, with the rows to write when it may go.
  struct Row: Sendable {
    var detail: DetailEntry
    var document: DocumentEntry
  }

  /// What becomes of them all.
  enum Verdict: Sendable {
    /// Many at once look like a fault: these items keep what they had, and are judged again by the next run.
    case withheld([String])
    /// A few are gone: these rows say so.
    case gone([Row])
  }

  private let rows = Mutex<[String: Row]>([:])

  /// Notes a detail that was held until now.
  func note(_ detail: DetailEntry, _ document: DocumentEntry) {
    rows.withLock { $0[detail.item] = Row(detail: detail, document: document) }
  }

  /// Judges them, once all details have answered.
  ///
  /// - Parameter held: how many of the details that the run asked for were held before it.
  /// - Returns: What becomes of them.
  func judge(held: Int) -> Verdict {
    let rows = rows.withLock { $0 }
    guard !ShrinkGuard.isSuspicious(details: held, missing: rows.count) else {
      return .withheld(rows.keys.sorted())
    }
    return .gone(
      rows.values.map { row in
        var row = row
        row.detail.state = .missing
        return row
      }
    )
  }
}
