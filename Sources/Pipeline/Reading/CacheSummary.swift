import Base
import Cache
import Catalog

/// The state of a cache: its age, its size, and the current failures with their start.
package struct CacheSummary: Sendable, Equatable, Encodable {
  private enum CodingKeys: String, CodingKey {
    case catalogs, pictures, bytes, oldestCheck, failing
  }

  /// One catalog in the cache.
  package struct Catalog: Sendable, Equatable, Encodable {
    private enum CodingKeys: String, CodingKey {
      case name, run, finished, outcome, complete, items, stale, failing
    }

    /// Its name.
    package var name: String
    /// The number of the last run that ended, if any.
    @OrNull package var run: RunID? = nil
    /// When the last run ended.
    @OrNull package var finished: UnixTime? = nil
    /// The outcome of the last run.
    @OrNull package var outcome: String? = nil
    /// When the last complete run ended.
    @OrNull package var complete: UnixTime? = nil
    /// The number of items in all sections.
    ///
    /// An item in two sections counts twice.
    package var items = 0
    /// The last run's report; nil if the run has no report.
    package var report: SyncReport?
    /// The keys of the sections whose items are not current.
    package var stale: [String] = []
    /// The sections whose items are not current, with their failures.
    package var failing: [FailingSection] = []
  }

  /// A section that the last run could not fetch, or whose listing a guard rejected.
  package struct FailingSection: Sendable, Equatable, Encodable {
    private enum CodingKeys: String, CodingKey {
      case key = "section"
      case source, reason, since
    }

    /// Its key.
    package var key: String
    /// Why the items are not current: `stale` if the section could not be fetched, `withheld` if a guard rejected the
    /// new items, and `failed` if the cache has no items of it.
    package var source: String
    /// The run's error message.
    @OrNull package var reason: String? = nil
    /// The remedy.
    package var remedy: SyncReport.Remedy?
    /// The end of the first of the consecutive runs that failed to get the section.
    @OrNull package var since: UnixTime? = nil
  }

  /// A picture that could not be fetched.
  package struct Failing: Sendable, Equatable, Encodable {
    /// Its URL.
    package var url: String
    /// A stable code for the reason, such as `http-404`.
    package var reason: String
    /// The time of the first of the consecutive failures.
    @OrNull package var since: UnixTime? = nil
  }

  /// The catalogs, sorted by name.
  package var catalogs: [Catalog] = []
  /// The number of cached pictures.
  package var pictures = 0
  /// The number of bytes of the cached pictures.
  ///
  /// If two URLs have the same picture, its bytes count twice.
  package var bytes: ByteCount = 0
  /// The size of the index, in bytes.
  package var indexBytes: ByteCount = 0
  /// The oldest among the times of the pictures' last checks.
  @OrNull package var oldestCheck: UnixTime? = nil
  /// The pictures that could not be fetched, the longest-failing first.
  package var failing: [Failing] = []

  /// Reads the state of the cache at `path`.
  ///
  /// This works while a sync runs.
  package init(cache path: String) throws(LarderError) {
    let index = try Index(reading: path)
    indexBytes = index.size
    for entry in try index.catalogs() {
      var catalog = Catalog(name: entry.name)
      if let run = try index.lastRun(catalog: entry.id) {
        catalog.run = run.id
        catalog.finished = run.finished
        catalog.outcome = run.outcome
        catalog.report = run.report.flatMap { try? SyncReport(json: $0) }
        for section in try index.sections(run: run.id) {
          if let listing = section.listing {
            catalog.items += try index.itemCount(listing: listing)
          }
          if section.isStale || section.source == SyncReport.Source.failed.rawValue {
            let row = catalog.report?.sections.first { $0.key == section.key }
            catalog.stale.append(section.key)
            catalog.failing.append(
              FailingSection(
                key: section.key,
                source: section.source,
                reason: row?.error,
                remedy: row?.remedy,
                since: try index.failingSince(section: section.key, catalog: entry.id)
              )
            )
          }
        }
      }
      catalog.complete = try index.lastComplete(catalog: entry.id)
      catalogs.append(catalog)
    }
    var summary = self
    try index.forEachPicture { entry in
      if entry.isHeld {
        summary.pictures += 1
        summary.bytes += entry.bytes
        if let checked = entry.checked ?? entry.fetched {
          summary.oldestCheck = min(summary.oldestCheck ?? checked, checked)
        }
      }
      if let reason = entry.failure {
        summary.failing.append(
          Failing(url: entry.url, reason: reason, since: entry.failingSince)
        )
      }
    }
    summary.failing.sort { ($0.since ?? 0, $0.url) < ($1.since ?? 0, $1.url) }
    self = summary
  }
}
