import ArgumentParser
import Base
import Larder
import Pipeline

/// `larder history [ID]`: prints the recorded changes of items.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show how items changed: prices, badges, titles, pictures, items added and removed.",
    discussion: """
      Example:  larder history HBDEF --field salePrice
                larder history --since 30d --csv > changes.csv

      Each sync records the changes since the sync before. The history begins with the first sync of a \
      catalog; for a cache of an older larder, with the first sync after the upgrade. larder gc --prices \
      2y removes older changes.
      """,
    statuses: [
      .done: "shown, whether or not anything changed",
      .failed: "no section has ever listed the item, or there is no cache",
      .io: "the cache cannot be read",
    ]
  )

  @Argument(help: "Only the item with this id.")
  var id: String?

  @Option("Only changes from this far back, such as 30d. (default: all)", value: "time")
  var since: DurationArgument?

  @Option(
    "Only this: \(HistoryCommand.fields.joined(separator: ", ")).",
    value: "field",
    completion: .list(HistoryCommand.fields),
    read: NameArgument.read
  )
  var field: Shop.Change.Field?

  @Flag(help: "Print CSV, prices in minor units.")
  var csv = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func validate() throws {
    if csv, output.json { throw ValidationError("--csv and --json: choose one of them") }
  }

  private static let fields = NameArgument<Shop.Change.Field>.names

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    let item = try id.flatMap { try reader.show($0) }
    let moment = since.map { UnixTime.now() + -Int64($0.seconds) }
    let changes = try reader.history(of: id, since: moment).map(Shop.Change.init).filter {
      field == nil || $0.field == field
    }
    if let id, item == nil, changes.isEmpty, try reader.history(of: id).isEmpty {
      let fault = "no section of \(reader.catalog.name) lists it, now or earlier"
      throw try reader.absence(of: id, "cannot show the history of \(id): \(fault)")
    }
    let document = HistoryText(changes: changes)
    try output.show(
      changes,
      text: csv ? document.table : document.text(lowest: item?.lowest30Days),
      always: true
    )
  }
}
