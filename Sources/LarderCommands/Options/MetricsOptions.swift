import ArgumentParser
import Orders
import Pipeline

/// The option `--metrics` of `sync` and `warm`: a file with numbers for Prometheus.
struct MetricsOptions: ParsableArguments {
  @Option(
    path: "At the end, write metrics to this file for Prometheus' textfile collector.",
    value: "file"
  )
  var metrics: String?

  /// Writes the metrics of a cache, if `--metrics` was given.
  func write(cache: String) throws {
    guard let metrics else { return }
    let summary = try CacheSummary(cache: cache)
    let text = MetricsText(summary, orders: try OutboxOptions.ofEnvironment()?.counts()).text
    try TextFile.replace(metrics, with: text)
  }
}

/// The metrics of a cache in the text format of Prometheus, version 0.0.4.
///
/// A sample is a line such as `larder_items{catalog="banchan"} 24`. The samples have no timestamps, because the
/// textfile collector of Prometheus refuses timestamps. All metrics are gauges, because each file describes the state
/// after one run.
struct MetricsText {
  private var lines = MetricLines()
  private let catalogs: [CacheSummary.Catalog]

  /// The whole file.
  var text: String { lines.text }

  /// Takes the state of a cache, and the number of orders; `orders` is nil if no order was ever placed.
  init(_ summary: CacheSummary, orders: DeliveryCounts?) {
    catalogs = summary.catalogs
    each("last_success_timestamp_seconds", "When the last complete run of a catalog ended.") {
      $0.complete?.seconds
    }
    each("last_run_timestamp_seconds", "When the last run of a catalog ended, with any result.") {
      $0.finished?.seconds
    }
    each("last_run_success", "Whether the last run of a catalog was complete.") {
      $0.outcome.map { $0 == "complete" ? 1 : 0 }
    }
    each("items", "Listings that a catalog shows.") { $0.items }
    each("stale_sections", "Sections that could not be brought up to date.") { $0.stale.count }
    each("run_duration_seconds", "How long the last run took.") { $0.report?.durationSeconds }
    each("run_requests", "Requests that the last run made, retries included.") {
      $0.report?.requests
    }
    each("run_fetched_bytes", "Picture bytes that the last run fetched.") {
      $0.report?.pictures.bytesFetched
    }
    each(
      "run_unfinished",
      "Requests that the last run left undone because of its deadline or a signal."
    ) { $0.report?.unfinishedCount }
    outcomes("run_images", "Pictures of the last run by outcome.") {
      [
        "failed": $0.pictures.failed, "fetched": $0.pictures.fetched, "fresh": $0.pictures.fresh,
        "revalidated": $0.pictures.revalidated,
      ]
    }
    outcomes("run_details", "Details of the last run by outcome.") {
      [
        "failed": $0.details.failed, "fetched": $0.details.fetched, "missing": $0.details.missing,
        "unchanged": $0.details.unchanged,
      ]
    }
    failures(
      "run_failures",
      "Failures of the last run by stage and reason, without the known ones.",
      known: false
    )
    failures(
      "run_known_failures",
      "Lasting failures of the last run that an earlier run has reported, by stage and reason.",
      known: true
    )
    add("cache_pictures", "Pictures that are held.", [([], summary.pictures)])
    add("cache_bytes", "Bytes of the held pictures.", [([], summary.bytes)])
    add("index_bytes", "Size of the index.", [([], summary.indexBytes)])
    add("failing_pictures", "Pictures whose last attempt failed.", [([], summary.failing.count)])
    add(
      "oldest_picture_timestamp_seconds",
      "When the picture that has gone unchecked the longest was last checked.",
      [([], summary.oldestCheck?.seconds)]
    )
    add(
      "orders",
      "Order messages by their state of delivery.",
      Delivery.State.allCases.map { state in
        ([("delivery", state.rawValue)], orders.map { $0[state, default: 0] })
      }
    )
  }

  /// The labels and the value of a sample; a sample without a value is left out.
  private typealias Sample = (labels: [(String, String)], value: (any CustomStringConvertible)?)

  /// Adds a metric, unless no sample has a value.
  private mutating func add(_ name: String, _ help: String, _ samples: [Sample]) {
    let samples = samples.filter { $0.value != nil }
    guard !samples.isEmpty else { return }
    lines.family(name, help, "gauge")
    for case (let labels, let value?) in samples { lines.sample(labels, value.description) }
  }

  /// Adds a metric with one sample for each catalog.
  private mutating func each(
    _ name: String,
    _ help: String,
    _ value: (CacheSummary.Catalog) -> (any CustomStringConvertible)?
  ) {
    add(name, help, catalogs.map { ([("catalog", $0.name)], value($0)) })
  }

  /// Adds a metric with one sample for each catalog and outcome, from the last reports.
  private mutating func outcomes(
    _ name: String,
    _ help: String,
    _ counts: (SyncReport) -> KeyValuePairs<String, Int>
  ) {
    let samples = catalogs.flatMap { catalog in
      (catalog.report.map(counts) ?? [:]).map { outcome, count in
        ([("catalog", catalog.name), ("outcome", outcome)], count) as Sample
      }
    }
    add(name, help, samples)
  }

  /// Adds a metric with one sample for each catalog, stage and reason of failures, from the last reports.
  private mutating func failures(_ name: String, _ help: String, known: Bool) {
    let samples = catalogs.flatMap { catalog in
      let counts = (catalog.report?.failureCounts(known: known) ?? [:]).flatMap { stage, counts in
        counts.map { (stage: stage.rawValue, reason: $0, count: $1) }
      }
      return counts.sorted { ($0.stage, $0.reason) < ($1.stage, $1.reason) }.map {
        ([("catalog", catalog.name), ("stage", $0.stage), ("reason", $0.reason)], $0.count)
          as Sample
      }
    }
    add(name, help, samples)
  }
}
