import ArgumentParser

/// `larder catalog`: a group of subcommands.
struct CatalogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Write and check catalog files; list the built-in formats.",
    discussion: """
      Example:  larder catalog init https://shop.example/products.json
                larder catalog check shop.yaml
                larder catalog show shopify > shop.yaml
                larder catalog schema > larder.schema.json
      """,
    statuses: [
      .done: "done",
      .failed: "the file already exists",
      .partial: "something looks wrong",
      .data: "no items could be read",
      .unavailable: "the origin cannot be reached",
      .io: "the file cannot be written",
      .configuration: "the catalog file is wrong",
    ],
    subcommands: [
      CatalogInitCommand.self, CatalogCheckCommand.self, CatalogFormatsCommand.self,
      CatalogShowCommand.self, CatalogSchemaCommand.self,
    ]
  )
}
