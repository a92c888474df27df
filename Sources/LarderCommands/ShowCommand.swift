import ArgumentParser
import Pipeline

/// `larder show ID`: prints one item.
struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one item with its detail and pictures, offline.",
    discussion: """
      Example:  larder show HBDEF
      """,
    statuses: [
      .done: "shown",
      .failed: "there is no such item, or no cache",
      .io: "the cache cannot be read",
    ]
  )

  @Argument(help: "The item's id, as list prints it.")
  var id: String

  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let reader = try CatalogReader(cache: cache.path, catalog: catalog.catalog)
    guard let item = try reader.show(id) else {
      let name = reader.catalog.name
      throw try reader.absence(of: id, "cannot show \(id): no section of \(name) lists it")
    }
    if output.json {
      Output.json(try ItemDocument.show(item))
    } else {
      Output.data(item.card(Terminal(output)))
    }
  }
}

extension CatalogReader {
  /// The error about an id that the catalog does not have: the fault, then the nearest ids.
  func absence(of id: String, _ fault: String) throws -> CommandFailure {
    let near = try nearestIDs(to: id).joined(separator: ", ")
    return CommandFailure(fault + (near.isEmpty ? "" : "; nearest are \(near)"), .failed)
  }
}
