import ArgumentParser
import Pipeline

/// `larder list [SECTION]`: the catalog, offline.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the catalog as last synced, offline.",
    discussion: """
      Example:  larder list main --search 불고기

      Exit statuses: 0 listed, 1 nothing to list, 64 usage, 74 the cache cannot be read.
      """
  )

  @Argument(help: ArgumentHelp("Only this section.", valueName: "section"))
  var section: String?

  @Option(
    help: ArgumentHelp(
      "Only items with this in title, description, badge or id.",
      valueName: "text"
    )
  )
  var search: String?

  @OptionGroup var cache: CacheOptions
  @OptionGroup var catalog: CatalogOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    var batches = try reader.batches(section: section)
    var list = ItemListOutput(
      isJSON: output.json,
      table: ItemTable(sections: try reader.sections(), Terminal(output))
    )
    while let batch = try batches.next() { try list.add(batch.filter { $0.matches(search) }) }
    list.end()
  }
}
