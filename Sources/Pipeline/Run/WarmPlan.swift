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
