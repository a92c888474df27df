/// The table of CONTRIBUTING.md as code: which of our modules each target may import.
enum Layers {
  /// The modules that each target may import.
  ///
  /// A C module has one owner and imports nothing. Any target may import CGlibc, which adds what
  /// Swift's Glibc lacks. LarderCommands imports CSQLite to set SQLite's memory at the start.
  static let imports: [String: Set<String>] = [
    "Base": ["CGlibc"],
    "Hashing": ["CCrypto"],
    "CAVIF": [],
    "CCrypto": [],
    "CCurl": [],
    "CDrawing": [],
    "CGlibc": [],
    "CHEVC": [],
    "CJQ": ["CGlibc"],
    "COpening": [],
    "CSQLite": [],
    "CSimdjson": [],
    "CJPEG": [],
    "CLCMS": [],
    "CPNG": [],
    "CTIFF": [],
    "CUnpack": [],
    "CWebP": [],
    "CXML": [],
    "CZimg": [],
    "Catalog": ["Base", "CGlibc", "CJQ", "CSimdjson", "CXML"],
    "Transport": ["Base", "CGlibc", "CUnpack"],
    "SQLite": ["Base", "CSQLite"],
    "CurlTransport": ["Base", "Transport", "CCurl"],
    "Cache": ["Base", "CGlibc", "Hashing", "Transport", "Imaging", "SQLite"],
    "Imaging": [
      "Base", "CAVIF", "CDrawing", "CGlibc", "CHEVC", "CJPEG", "CLCMS", "CPNG",
      "CTIFF", "CWebP", "CZimg",
    ],
    "ObjectStore": ["Base", "Cache", "CXML", "Hashing", "Transport"],
    "Orders": ["Base", "Catalog", "Hashing", "SQLite", "Transport"],
    "Pipeline": ["Base", "CGlibc", "Catalog", "Transport", "Cache", "Imaging"],
    "Larder": [
      "Base", "Cache", "Catalog", "CurlTransport", "Imaging", "Orders", "Pipeline", "Transport",
    ],
    // The rules of HTTP that both servers follow; none of their clients uses them.
    "HTTPServing": ["Base"],
    "Web": [
      "Base", "Cache", "Catalog", "HTTPServing", "Hashing", "Imaging", "Larder", "Orders",
      "Pipeline", "Transport",
    ],
    "Bench": ["Base", "Catalog", "Pipeline", "Transport"],
    "Sharding": ["Base", "Cache", "Catalog", "Hashing", "Pipeline", "Transport"],
    // It must not share parsers with its clients, or it would share their bugs. Of Base it uses errors, files and dates.
    "SampleStore": ["Base", "HTTPServing", "Hashing"],
    "LarderCommands": [
      "Base", "Bench", "Catalog", "Transport", "CurlTransport", "Cache",
      "CGlibc", "CSQLite", "Imaging", "Larder",
      "ObjectStore", "Orders", "Pipeline", "SampleStore", "Sharding", "Web",
    ],
    "larder": ["LarderCommands"],
  ]

  /// All of our modules.
  static let ours = Set(imports.keys)

  /// Targets whose messages name no command-line option: the library, its modules and the
  /// benchmark.
  static let flagless: Set<String> = [
    "Base", "Bench", "Cache", "Catalog", "CurlTransport", "Imaging", "Larder", "ObjectStore",
    "Orders", "Pipeline", "SQLite", "Sharding", "Transport", "Web",
  ]

  /// The targets that may import all of Foundation.
  static let foundation: Set<String> = ["LarderCommands"]
}
