import ArgumentParser
import Catalog
import Pipeline

/// `larder list [SECTION]`: the catalog, offline.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the catalog as last synced, offline.",
    discussion: """
      Example:  larder list main --search ㅂㄱㄱ --price ..9000 --sort price --limit 10

      Exit statuses: 0 listed, 1 nothing to list, 64 usage, 74 the cache cannot be read.
      """
  )

  @Argument(
    help: ArgumentHelp("Only this section.", valueName: "section"),
    completion: CacheCompletion.sections
  )
  var section: String?

  @OptionGroup(title: "Which items") var query: QueryOptions

  @Flag(help: "Print GeoJSON (RFC 7946): the items that have a place.")
  var geojson = false

  @OptionGroup var cache: CacheOptions
  @OptionGroup var catalog: CatalogOptions
  @OptionGroup var output: OutputOptions

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
    while let batch = try batches.next() { try list.add(batch) }
    list.end()
  }
}
