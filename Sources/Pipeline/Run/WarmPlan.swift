import Base
import Cache

/// The catalogs that `warm` runs, and their order.
///
/// ``DueRule`` decides which pictures need a request.
package struct WarmPlan: Sendable, Equatable {
  /// The times of a catalog's last runs.
  package struct LastRuns: Sendable, Equatable {
    /// The time when the catalog's last run started; nil if it never ran.
    package var started: UnixTime?
    /// The time when the catalog's last complete run ended; nil if no run was complete.
    package var complete: UnixTime?

    /// Makes a value from its parts.
    package init(started: UnixTime? = nil, complete: UnixTime? = nil) {
      self.started = started
      self.complete = complete
    }
  }

  /// The positions of the catalogs to run, the one with the oldest complete run first.
  ///
  /// A catalog that the deadline or the byte limit cut off is therefore among the first the next time.
  package let due: [Int]
  /// The positions of the catalogs that are skipped because their last run started too recently.
  package let recent: [Int]
  /// The last runs of each catalog, in the order in which the user named the catalogs.
  package let standings: [LastRuns]

  /// Plans a run.
  ///
  /// - Parameters:
  ///   - standings: The last runs of each catalog, in the order in which the user named the catalogs.
  ///   - minInterval: The minimum number of seconds between the starts of two runs of a catalog. Pass nil to set no
  ///     limit.
  ///   - now: The current time.
  package init(_ standings: [LastRuns], minInterval: Double?, now: UnixTime) {
    func isRecent(_ standing: LastRuns) -> Bool {
      guard let minInterval, let started = standing.started else { return false }
      // If the recorded start is in the future, the clock was set back after that run. Such a start is ignored.
      return now >= started && Double(now - started) < minInterval
    }
    self.standings = standings
    recent = standings.indices.filter { isRecent(standings[$0]) }
    due = standings.indices.filter { !isRecent(standings[$0]) }
      .sorted { (standings[$0].complete ?? 0, $0) < (standings[$1].complete ?? 0, $1) }
  }
}

extension WarmPlan.LastRuns {
  /// The number of runs that are searched for a complete one.
  ///
  /// If none of these runs is complete, the catalog counts as never complete.
  private static let runs = 1_000

  /// Reads the last runs of a catalog from the cache at a path.
  ///
  /// The cache need not exist.
  ///
  /// A damaged index counts as missing, because the run will rebuild it.
  package init(of name: String, cache: String) throws(LarderError) {
    self.init()
    do throws(LarderError) {
      let index = try Index(reading: cache)
      guard let entry = try index.catalogs().first(where: { $0.name == name }) else { return }
      started = try index.runs(catalog: entry.id, limit: 1).first?.started
      complete = try index.lastComplete(catalog: entry.id, amongLast: Self.runs)
    } catch {
      guard error.code == .empty || error.code == .damaged else { throw error }
      self.init()
    }
  }
}
