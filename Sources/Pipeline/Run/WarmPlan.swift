import Cache
import Transport

/// Which catalogs an unattended run takes on, and in which order.
package struct WarmPlan: Sendable, Equatable {
  /// How one catalog stands before the run.
  package struct Standing: Sendable, Equatable {
    /// When its last run started; nil when there was none.
    package var started: UnixTime?
    /// When its last complete run ended; nil when there was none.
    package var complete: UnixTime?

    /// A catalog's standing from its parts.
    package init(started: UnixTime? = nil, complete: UnixTime? = nil) {
      self.started = started
      self.complete = complete
    }
  }

  /// The positions of the catalogs to run: whichever was complete longest ago first, so that what a
  /// budget did not reach comes first next time.
  package let due: [Int]
  /// The positions of those that ran too recently.
  package let recent: [Int]

  /// Plans a run.
  ///
  /// - Parameters:
  ///   - standings: the catalogs in the user's order.
  ///   - minInterval: how many seconds lie between the starts of two runs of a catalog, at least.
  ///   - now: the moment.
  package init(_ standings: [Standing], minInterval: Double?, now: UnixTime) {
    func isRecent(_ standing: Standing) -> Bool {
      guard let minInterval, let started = standing.started else { return false }
      // What started in the future started by a clock that has been set back since.
      return now >= started && Double(now - started) < minInterval
    }
    recent = standings.indices.filter { isRecent(standings[$0]) }
    due = standings.indices.filter { !isRecent(standings[$0]) }
      .sorted { (standings[$0].complete ?? 0, $0) < (standings[$1].complete ?? 0, $1) }
  }
}

extension WarmPlan.Standing {
  /// In how many runs a complete one is looked for: a catalog that had none for longer is as good as one that never had.
  private static let runs = 1_000

  /// How the catalog of a name stands in the cache at a path, which need not exist.
  ///
  /// A damaged index tells nothing, like none at all: the run makes it anew.
  package init(of name: String, cache: String) throws(CacheError) {
    self.init()
    do throws(CacheError) {
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
