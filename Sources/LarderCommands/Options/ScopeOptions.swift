import ArgumentParser
import Pipeline

/// What of a catalog is fetched, and from where.
struct ScopeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Fetch from here in place of the catalog's base.", valueName: "url"))
  var base: String?

  @Flag(help: "Fetch only the pictures of the lists.")
  var thumbnailsOnly = false

  @Flag(help: "Fetch no details.")
  var noDetails = false

  mutating func validate() throws {
    if let base, !base.contains("://") {
      throw ValidationError(
        "--base takes an absolute URL such as https://store.example/, not \"\(base)\""
      )
    }
  }

  /// What the run does beyond the catalog file.
  var sync: SyncOptions {
    var options = SyncOptions()
    options.base = base
    options.thumbnailsOnly = thumbnailsOnly
    options.noDetails = noDetails
    return options
  }
}
