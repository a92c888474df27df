import ArgumentParser
import Pipeline

/// Where a run leaves numbers for monitoring.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the cache's numbers here afterwards, as Prometheus' textfile collector reads them.",
      valueName: "file"
    ),
    transform: PathArgument.read
  )
  var metrics: String?

  /// Writes the numbers of the cache at a path, if they were asked for.
  func write(cache: String) throws {
    guard let metrics else { return }
    let summary = try CacheSummary(cache: cache)
    let text = MetricsText(summary, orders: try DueOrders.counts()).text
    try TextFile.replace(metrics, with: text)
  }
}
