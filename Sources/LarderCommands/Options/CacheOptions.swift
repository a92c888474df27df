import ArgumentParser

/// Which cache, and which of its catalogs.
struct CacheOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The cache's folder (default: LARDER_CACHE, else cache).",
      valueName: "dir"
    ),
    completion: .directory
  )
  var cache: String?

  /// The flag, else the environment, else `cache` in the working folder.
  var path: String { Self.path(cache) }

  /// The same for a flag's value.
  static func path(_ cache: String?) -> String {
    cache ?? Terminal.environment("LARDER_CACHE").flatMap { $0.isEmpty ? nil : $0 } ?? "cache"
  }
}

/// Which catalog of a cache that holds several.
struct CatalogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Which catalog; none is needed when there is one.", valueName: "name"),
    completion: CacheCompletion.catalogs
  )
  var catalog: String?
}
