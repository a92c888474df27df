import Base
import Cache
import FoundationEssentials
import Glibc

/// The catalogs that `warm` runs, and their order.
///
/// ``DueRule`` decides which pictures need a request.
package struct WarmPlan: Sendable, Equatable {
  /// The times of a catalog's last runs.
  package struct LastRuns: Sendable, Equatable {
    /// The time when the catalog's last run started; nil if it never ran.
    package var started: UnixTime?
    /// The time of the last run if it requested something of the catalog, but the catalog has never had a run that the
    /// index records, because its first one fails.
    package var tried: UnixTime?

    /// Makes a value from its parts.
    package init(started: UnixTime? = nil, tried: UnixTime? = nil) {
      (self.started, self.tried) = (started, tried)
    }
  }

  /// The positions of the catalogs to run, the one whose last turn is the longest ago first.
  ///
  /// A catalog that the deadline or the byte limit left no time is therefore among the first the next time, and one that
  /// uses up all the time, for example because its host does not answer, lets the others come first.
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
    func lastTurn(_ standing: LastRuns) -> UnixTime {
      let turn = standing.started ?? standing.tried ?? 0
      return turn > now ? 0 : turn
    }
    due = standings.indices.filter { !isRecent(standings[$0]) }
      .sorted { (lastTurn(standings[$0]), $0) < (lastTurn(standings[$1]), $1) }
  }
}

extension WarmPlan.LastRuns {
  /// Reads the last runs of a catalog from the cache at a path.
  ///
  /// The cache need not exist.
  ///
  /// A damaged index counts as missing, because the run will rebuild it.
  package init(of name: String, cache: String) throws(LarderError) {
    self.init()
    do throws(LarderError) {
      let index = try Index(reading: cache)
      guard let entry = try index.catalogs().first(where: { $0.name == name }) else {
        tried = Self.tried(name, cache: cache)
        return
      }
      started = try index.runs(catalog: entry.id, limit: 1).first?.started
    } catch {
      guard error.code == .empty || error.code == .damaged else { throw error }
      self.init()
    }
  }

  /// The time of the last run, if its record `last-run.json` says that it requested something of the catalog.
  private static func tried(_ name: String, cache: String) -> UnixTime? {
    struct Record: Decodable {
      struct Report: Decodable {
        let catalog: String
        let requests: Int
      }
      let catalogs: [Report]
    }
    let path = "\(cache)/last-run.json"
    var status = stat()
    guard let bytes = Files.contents(of: path, most: 64 << 20), stat(path, &status) == 0,
      let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)),
      record.catalogs.contains(where: { $0.catalog == name && $0.requests > 0 })
    else { return nil }
    return UnixTime(Int64(status.st_mtim.tv_sec))
  }
}
