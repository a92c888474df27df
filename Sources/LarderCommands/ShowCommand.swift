import ArgumentParser
import Pipeline

/// `larder show ID`: prints one item.
struct ShowCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "shown",
      .failed: "there is no such item, or no cache",
      .io: "the cache cannot be read",
    ]
  )

  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one item with its detail and pictures, offline.",
    discussion: """
      Example:  larder show HBDEF

      \(statuses.text)
      """
  )

  @Argument(help: ArgumentHelp("The item's id, as list prints it.", valueName: "id"))
  var id: String

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    guard let item = try reader.show(id) else {
      let near = try reader.nearestIDs(to: id)
      throw CommandFailure(
        "cannot show \(id): no section of \(reader.catalog.name) lists it"
          + (near.isEmpty ? "" : "; nearest are \(near.joined(separator: ", "))"),
        .failed
      )
    }
    try output.show(
      json: ItemDocument.show(item),
      text: item.card(Terminal(output)),
      always: true
    )
  }
}
