/// Which of our modules the files of each target may import: the table of CONTRIBUTING.md, as code.
enum Layers {
  /// The modules by target.
  ///
  /// A C module has one owner and imports nothing; what Swift's Glibc leaves out is everybody's.
  /// LarderCommands imports others to list the releases of their libraries.
  static let imports: [String: Set<String>] = [
    "Base": ["CGlibc"],
    "CAVIF": [],
    "CCurl": [],
    "CDrawing": [],
    "CGIF": [],
    "CGlibc": [],
    "CHEVC": [],
    "CJQ": ["CGlibc"],
    "COpening": [],
    "CSQLite": [],
    "CSimdjson": [],
    "CJPEG": [],
    "CLCMS": [],
    "CPNG": [],
    "CPixman": [],
    "CTIFF": [],
    "CUnpack": [],
    "CWebP": [],
    "CXML": [],
    "CZimg": [],
    "Catalog": ["Base", "CGlibc", "CJQ", "CSimdjson", "CXML"],
    "Transport": ["Base", "CGlibc"],
    "SQLite": ["Base", "CSQLite"],
    "CurlTransport": ["Base", "Transport", "CCurl"],
    "Cache": ["Base", "CGlibc", "Transport", "Imaging", "SQLite"],
    "Imaging": [
      "Base", "CAVIF", "CDrawing", "CGIF", "CGlibc", "CHEVC", "CJPEG", "CLCMS", "CPNG", "CPixman",
      "CTIFF", "CWebP", "CZimg",
    ],
    "ObjectStore": ["Base", "Cache", "CXML", "Transport"],
    "Orders": ["Base", "Catalog", "SQLite", "Transport"],
    "Pipeline": ["Base", "CGlibc", "Catalog", "Transport", "Cache", "Imaging", "CUnpack"],
    "Larder": [
      "Base", "Cache", "Catalog", "CurlTransport", "Imaging", "Orders", "Pipeline", "Transport",
    ],
    "Web": [
      "Base", "Cache", "Catalog", "Imaging", "Larder", "Orders", "Pipeline", "Transport",
    ],
    "Bench": ["Base", "Cache", "Catalog", "Pipeline", "Transport", "Web"],
    "Sharding": ["Base", "Cache", "Catalog", "Pipeline", "Transport"],
    // An origin that shared the parsers of its clients would share their mistakes.
    "SampleStore": ["CGlibc"],
    "LarderCommands": [
      "Base", "Bench", "Catalog", "Transport", "CurlTransport", "Cache",
      "CAVIF", "CDrawing", "CGlibc", "CHEVC", "CLCMS", "CPNG", "CPixman", "CSQLite", "CTIFF",
      "CWebP", "CXML", "CZimg", "Imaging", "Larder",
      "ObjectStore", "Orders", "Pipeline", "SampleStore", "Sharding", "Web",
    ],
    "larder": ["LarderCommands"],
  ]

  /// Every module of ours.
  static let ours = Set(imports.keys)

  /// The library and what it is made of, and the measurements, whose words name no flag.
  static let flagless: Set<String> = [
    "Base", "Bench", "Cache", "Catalog", "CurlTransport", "Imaging", "Larder", "ObjectStore",
    "Orders", "Pipeline", "SQLite", "Sharding", "Transport", "Web",
  ]

  /// The targets that may import all of Foundation.
  static let foundation: Set<String> = ["LarderCommands"]
}
