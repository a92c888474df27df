import Base
import Cache

/// The catalogs that `warm` runs, and their order.
///
/// ``DueRule`` decides which pictures need a request.
package struct WarmPlan: Sendable, Equatable {
  /// The positions of the catalogs to run, the one whose last run started the longest ago first.
  ///
  /// A catalog that the deadline or the byte limit left no time is therefore among the first the next time, and one that
  /// uses up all the time, for example because its host does not answer, lets the others come first.
  package let due: [Int]
  /// The positions of the catalogs that are skipped because their last run started too recently.
  package let recent: [Int]

  /// Plans a run.
  ///
  /// - Parameters:
  ///   - starts: The time when each catalog's last run started, in the order in which the user named the catalogs; nil for
  ///     a catalog that never ran.
  ///   - minInterval: The minimum number of seconds between the starts of two runs of a catalog. Pass nil to set no
  ///     limit.
  ///   - now: The current time.
  package init(_ starts: [UnixTime?], minInterval: Double?, now: UnixTime) {
    // If the recorded start is in the future, the clock was set back after that run. Such a start is ignored.
    let known = starts.map { start in start.flatMap { $0 > now ? nil : $0 } }
    func isRecent(_ place: Int) -> Bool {
      guard let minInterval, let start = known[place] else { return false }
      return Double(now - start) < minInterval
    }
    recent = starts.indices.filter(isRecent)
    due = starts.indices.filter { !isRecent($0) }
      .sorted { (known[$0] ?? 0, $0) < (known[$1] ?? 0, $1) }
  }

  /// The time when a catalog's last run in the cache at a path started; nil if it never ran.
  ///
  /// The cache need not exist. A damaged index counts as missing, because the run will rebuild it.
  package static func lastStart(of name: String, cache: String) throws(LarderError) -> UnixTime? {
    do throws(LarderError) {
      let index = try Index(reading: cache)
      guard let entry = try index.catalogs().first(where: { $0.name == name }) else { return nil }
      return try index.runs(catalog: entry.id, limit: 1).first?.started
    } catch {
      guard error.code == .empty || error.code == .damaged else { throw error }
      return nil
    }
  }
}
