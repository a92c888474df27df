import ArgumentParser
import Cache
import Catalog
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
    let text = MetricsText(summary, orders: try OutboxOptions.parse([]).existing()?.counts()).text
    try TextFile.replace(metrics, with: text)
  }
}

/// The metrics of a cache in the text format of Prometheus, version 0.0.4.
///
/// A sample is a line such as `larder_items{catalog="banchan"} 24`. The samples have no timestamps, because the
/// textfile collector of Prometheus refuses timestamps. All metrics are gauges, because each file describes the state
/// after one run.
struct MetricsText {
  private let summary: CacheSummary
  private let orders: DeliveryCounts?

  /// Takes the state of a cache, and the number of orders; `orders` is nil if no order was ever placed.
  init(_ summary: CacheSummary, orders: DeliveryCounts?) {
    self.summary = summary
    self.orders = orders
  }

  private struct Sample {
    var labels: [(String, String)] = []
    var value: String
  }

  /// The whole file.
  var text: String {
    var lines = MetricLines()
    func add(_ name: String, _ help: String, _ samples: [Sample]) {
      guard !samples.isEmpty else { return }
      lines.family(name, help, "gauge")
      for sample in samples { lines.sample(sample.labels, sample.value) }
    }
    add(
      "last_success_timestamp_seconds",
      "When the last complete run of a catalog ended.",
      each { $0.complete.map { "\($0.seconds)" } }
    )
    add(
      "last_run_timestamp_seconds",
      "When the last run of a catalog ended, with any result.",
      each { $0.finished.map { "\($0.seconds)" } }
    )
    add(
      "last_run_success",
      "Whether the last run of a catalog was complete.",
      each { catalog in catalog.outcome.map { $0 == "complete" ? "1" : "0" } }
    )
    add("items", "Listings that a catalog shows.", each { "\($0.items)" })
    add(
      "stale_sections",
      "Sections that could not be brought up to date.",
      each { "\($0.stale.count)" }
    )
    add(
      "run_duration_seconds",
      "How long the last run took.",
      reports { ["": "\($0.durationSeconds)"] }
    )
    add(
      "run_requests",
      "Requests that the last run made, retries included.",
      reports { ["": "\($0.requests)"] }
    )
    add(
      "run_fetched_bytes",
      "Picture bytes that the last run fetched.",
      reports { ["": "\($0.pictures.bytesFetched)"] }
    )
    add(
      "run_unfinished",
      "Requests that the last run left undone because of its deadline or a signal.",
      reports { ["": "\($0.unfinished.count)"] }
    )
    add(
      "run_images",
      "Pictures of the last run by outcome.",
      reports("outcome") {
        [
          "fetched": "\($0.pictures.fetched)", "revalidated": "\($0.pictures.revalidated)",
          "fresh": "\($0.pictures.fresh)", "failed": "\($0.pictures.failed)",
        ]
      }
    )
    add(
      "run_details",
      "Details of the last run by outcome.",
      reports("outcome") {
        [
          "fetched": "\($0.details.fetched)", "unchanged": "\($0.details.unchanged)",
          "missing": "\($0.details.missing)", "failed": "\($0.details.failed)",
        ]
      }
    )
    add(
      "run_failures",
      "Failures of the last run by stage and reason, without the known ones.",
      failures(known: false)
    )
    add(
      "run_known_failures",
      "Lasting failures of the last run that an earlier run has reported, by stage and reason.",
      failures(known: true)
    )
    add("cache_pictures", "Pictures that are held.", [Sample(value: "\(summary.pictures)")])
    add("cache_bytes", "Bytes of the held pictures.", [Sample(value: "\(summary.bytes)")])
    add("index_bytes", "Size of the index.", [Sample(value: "\(summary.indexBytes)")])
    add(
      "failing_pictures",
      "Pictures whose last attempt failed.",
      [Sample(value: "\(summary.failing.count)")]
    )
    add(
      "oldest_picture_timestamp_seconds",
      "When the picture that has gone unchecked the longest was last checked.",
      summary.oldestCheck.map { [Sample(value: "\($0.seconds)")] } ?? []
    )
    add("orders", "Order messages by their state of delivery.", deliveries)
    return lines.text
  }

  private var deliveries: [Sample] {
    guard let orders else { return [] }
    return Delivery.State.allCases.map { state in
      Sample(labels: [("delivery", state.rawValue)], value: "\(orders[state])")
    }
  }

  private func each(_ value: (CacheSummary.Catalog) -> String?) -> [Sample] {
    summary.catalogs.compactMap { catalog in
      value(catalog).map { Sample(labels: [("catalog", catalog.name)], value: $0) }
    }
  }

  /// The samples from the last report of every catalog.
  ///
  /// `values` returns a dictionary for a report. Each entry becomes a sample: its key is the value of the label
  /// `label`, and its value is the number.
  private func reports(_ label: String? = nil, _ values: (SyncReport) -> [String: String])
    -> [Sample]
  {
    summary.catalogs.flatMap { catalog in
      (catalog.report.map(values) ?? [:]).sorted { $0.key < $1.key }.map { key, value in
        Sample(
          labels: [("catalog", catalog.name)] + (label.map { [($0, key)] } ?? []),
          value: value
        )
      }
    }
  }

  private func failures(known: Bool) -> [Sample] {
    summary.catalogs.flatMap { catalog in
      let counts = (catalog.report?.failureCounts(known: known) ?? [:]).flatMap { stage, counts in
        counts.map { (stage: stage.rawValue, reason: $0, count: $1) }
      }
      return counts.sorted { ($0.stage, $0.reason) < ($1.stage, $1.reason) }.map {
        Sample(
          labels: [("catalog", catalog.name), ("stage", $0.stage), ("reason", $0.reason)],
          value: "\($0.count)"
        )
      }
    }
  }
}
