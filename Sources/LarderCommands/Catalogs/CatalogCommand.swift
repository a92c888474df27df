import ArgumentParser

/// `larder catalog`: only names its subcommands.
struct CatalogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Write, try and learn about catalog files.",
    discussion: """
      Example:  larder catalog init https://shop.example/products.json
                larder catalog check shop.yaml
                larder catalog show shopify > shop.yaml
                larder catalog schema > larder.schema.json

      Exit statuses: 0 done, 1 the file exists, 3 something looks wrong, 64 usage, 65 no items \
      could be read, 69 the origin cannot be reached, 74 disk, 78 the catalog file is wrong.
      """,
    subcommands: [
      CatalogInitCommand.self, CatalogCheckCommand.self, CatalogFormatsCommand.self,
      CatalogShowCommand.self, CatalogSchemaCommand.self,
    ]
  )
}
