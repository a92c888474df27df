import Catalog
import Sharding

/// What people are told of a plan or of a shard.
struct ShardText {
  /// The text.
  let text: String

  /// That of a plan.
  init(_ plan: ShardPlan, folder: String) {
    let sizes = plan.shards.map(\.urls)
    let least = sizes.min() ?? 0
    let most = sizes.max() ?? 0
    let name = PlainText.line(plan.catalog)
    let folder = ShownCommand.word(PlainText.line(folder))
    text = """
      \(name) planned: \(Quantities.count(plan.urls, "picture")) in \
      \(Quantities.count(plan.shards.count, "shard")), \(least) to \(most) each
      digest: \(plan.digest)
      next: larder shard run --plan \(folder) --shard 0 … \(plan.shards.count - 1), then larder \
      shard merge --plan \(folder)
      """
  }

  /// That of a shard.
  init(_ outcome: ShardOutcome) {
    let end = outcome.committed ? "committed" : "had been committed by another run"
    text =
      "shard \(outcome.shard) \(end): \(Quantities.count(outcome.urls, "picture")), "
      + "\(outcome.fetched) fetched, \(outcome.held) held, \(outcome.failed) failed"
  }
}
