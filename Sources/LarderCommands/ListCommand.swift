import ArgumentParser
import Catalog
import Pipeline

/// `larder list [SECTION]`: the catalog, offline.
struct ListCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "listed",
      .failed: "there is nothing to list: no cache, or no such section",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the catalog as last synced, offline.",
    discussion: """
      Example:  larder list main --search ㅂㄱㄱ --price ..9000 --sort price --limit 10

      \(statuses.text)
      """
  )

  @Argument(help: ArgumentHelp("Only this section.", valueName: "section"))
  var section: String?

  @OptionGroup(title: Topic.items) var query: QueryOptions

  @Flag(help: "Print GeoJSON (RFC 7946): the items that have a place.")
  var geojson = false

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func validate() throws {
    if geojson, output.json { throw ValidationError("--geojson and --json: choose one of them") }
  }

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    let query = query.query
    var batches = try reader.batches(section: section, where: query)
    // Sorted items of several sections stand in one list, without headings between them.
    let isFlat = query.order != nil && section == nil
    var list = ItemListOutput(
      form: geojson ? .geoJSON(catalog: reader.catalog.name) : output.json ? .json : .table,
      table: ItemTable(sections: isFlat ? [] : try reader.sections(), Terminal(output))
    )
    // A document is whole or not printed at all: what cannot be read is found before its first byte is written.
    if geojson || output.json {
      var trial = batches
      while try trial.next() != nil {}
    }
    while let batch = try batches.next() { try list.add(batch) }
    list.end()
  }
}
