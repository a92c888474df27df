// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "larder",
  products: [
    .executable(name: "larder", targets: ["larder"]),
    .library(name: "Catalog", targets: ["Catalog"]),
    .library(name: "Imaging", targets: ["Imaging"]),
    .library(name: "Larder", targets: ["Larder"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
  ],
  targets: [
    .target(name: "CCrypto", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CGlibc"),
    .target(name: "COpening"),
    .target(name: "CJQ", dependencies: ["CGlibc"], linkerSettings: [.linkedLibrary("jq")]),
    .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("turbojpeg")]),
    .target(name: "CLCMS", linkerSettings: [.linkedLibrary("lcms2")]),
    .target(name: "CPNG", linkerSettings: [.linkedLibrary("png16"), .linkedLibrary("z")]),
    .target(name: "CXML", linkerSettings: [.linkedLibrary("xml2")]),
    .target(name: "CZimg", linkerSettings: [.linkedLibrary("zimg")]),
    .target(name: "CAVIF", dependencies: ["COpening"]),
    .target(name: "CDrawing", dependencies: ["COpening"]),
    .target(name: "CHEVC", dependencies: ["COpening"]),
    .target(name: "CTIFF", dependencies: ["COpening"]),
    .target(name: "CUnpack", linkerSettings: [.linkedLibrary("z")]),
    .target(name: "CWebP", linkerSettings: [.linkedLibrary("webp"), .linkedLibrary("webpdemux")]),
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CCurl", dependencies: ["COpening"]),

    .target(name: "Base", dependencies: ["CGlibc"]),
    .target(name: "Hashing", dependencies: ["CCrypto"]),
    .target(
      name: "SQLite",
      dependencies: [
        "Base", "CSQLite",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .target(
      name: "Catalog",
      dependencies: [
        "Base", "CGlibc", "CJQ", "CSimdjson", "CXML",
        .product(name: "Yams", package: "Yams"),
      ],
      resources: [.embedInCode("Formats"), .embedInCode("File/Embedded"), .embedInCode("Words")]
    ),
    .target(name: "Transport", dependencies: ["Base", "CGlibc", "CUnpack"]),
    .target(name: "CurlTransport", dependencies: ["Base", "Transport", "CCurl"]),
    .target(
      name: "Cache",
      dependencies: [
        "Base", "CGlibc", "Hashing", "Transport", "Imaging", "SQLite",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .target(
      name: "Imaging",
      dependencies: [
        "Base", "CAVIF", "CDrawing", "CGlibc", "CHEVC", "CJPEG", "CLCMS", "CPNG",
        "CTIFF", "CWebP", "CZimg",
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .target(
      name: "Pipeline",
      dependencies: [
        "Base", "CGlibc", "Catalog", "Transport", "Cache", "Imaging",
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .target(
      name: "Larder",
      dependencies: [
        "Base", "Cache", "Catalog", "CurlTransport", "Imaging", "Orders", "Pipeline", "Transport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .target(name: "HTTPServing", dependencies: ["Base"]),
    .target(
      name: "Web",
      dependencies: [
        "Base", "Cache", "Catalog", "HTTPServing", "Hashing", "Imaging", "Larder", "Orders",
        "Pipeline",
        "Transport",
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      resources: [.embedInCode("Templates")]
    ),
    .target(
      name: "Bench",
      dependencies: ["Base", "Catalog", "Pipeline", "Transport"]
    ),
    .target(
      name: "Sharding",
      dependencies: [
        "Base", "Cache", "Catalog", "Hashing", "Pipeline", "Transport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .target(
      name: "ObjectStore",
      dependencies: [
        "Base", "Cache", "CXML", "Hashing", "Transport",
      ]
    ),
    .target(
      name: "Orders",
      dependencies: [
        "Base", "Catalog", "Hashing", "SQLite", "Transport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]
    ),
    .target(
      name: "SampleStore",
      dependencies: [
        "Base", "HTTPServing", "Hashing",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]
    ),
    .target(
      name: "LarderCommands",
      dependencies: [
        "Base", "Bench", "Catalog", "Transport", "CurlTransport", "Cache",
        "CGlibc", "CSQLite", "Imaging", "Larder",
        "ObjectStore", "Orders", "Pipeline", "SampleStore", "Sharding", "Web",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .executableTarget(name: "larder", dependencies: ["LarderCommands"]),

    .target(
      name: "CTLS",
      path: "Tests/CTLS",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
    ),
    .target(
      name: "Support",
      dependencies: [
        "Base", "CTLS", "Cache", "Catalog", "CurlTransport", "Pipeline", "SampleStore",
        "Transport",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Tests/Support"
    ),
    .testTarget(
      name: "CatalogTests",
      dependencies: ["Catalog", "Support", .product(name: "Yams", package: "Yams")],
      exclude: ["Fixtures", "Formats"]
    ),
    .testTarget(name: "BaseTests", dependencies: ["Base", "Support"]),
    .testTarget(name: "HashingTests", dependencies: ["Base", "Hashing"]),
    .testTarget(
      name: "SQLiteTests",
      dependencies: ["Base", "SQLite", "Support", .product(name: "GRDB", package: "GRDB.swift")]
    ),
    .testTarget(name: "TransportTests", dependencies: ["Base", "Transport"]),
    .testTarget(
      name: "CurlTransportTests",
      dependencies: ["Base", "CCurl", "COpening", "CurlTransport", "Support", "Transport"]
    ),
    .testTarget(
      name: "CacheTests",
      dependencies: [
        "Base", "Cache", "SQLite", "Support", "Transport",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"]
    ),
    .target(
      name: "PictureFixtures",
      path: "Tests/PictureFixtures",
      linkerSettings: [.linkedLibrary("avif"), .linkedLibrary("jpeg"), .linkedLibrary("tiff")]
    ),
    .testTarget(
      name: "ImagingTests",
      dependencies: [
        "Imaging", "PictureFixtures", "Support",
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    ),
    .testTarget(
      name: "ObjectStoreTests",
      dependencies: [
        "Base", "Cache", "Catalog", "CurlTransport", "Hashing", "ObjectStore", "Pipeline",
        "SampleStore", "Support", "Transport", "Web",
      ]
    ),
    .testTarget(
      name: "OrdersTests",
      dependencies: [
        "Base", "Catalog", "CurlTransport", "Orders", "SQLite", "SampleStore", "Support",
        "Transport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"]
    ),
    .testTarget(name: "HTTPServingTests", dependencies: ["HTTPServing"]),
    .testTarget(name: "SampleStoreTests", dependencies: ["Base", "SampleStore", "Support"]),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "Base", "Cache", "Catalog", "CurlTransport", "Imaging", "Pipeline", "SampleStore",
        "Support",
        "Transport", .product(name: "GRDB", package: "GRDB.swift"),
      ]
    ),
    .testTarget(
      name: "ShardingTests",
      dependencies: [
        "Base", "Cache", "Catalog", "CurlTransport", "Pipeline", "SampleStore", "Sharding",
        "Support",
        "Transport",
      ]
    ),
    .testTarget(
      name: "LarderTests",
      dependencies: ["Larder", "SampleStore", "Support"]
    ),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "Base", "Imaging", "LarderCommands", "Pipeline", "SampleStore", "Support", "Transport",
        "larder",
      ]
    ),
    .testTarget(
      name: "BenchTests",
      dependencies: [
        "Base", "Bench", "CurlTransport", "Pipeline", "SampleStore", "Support", "Transport",
      ]
    ),
    .testTarget(
      name: "WebTests",
      dependencies: [
        "Base", "Bench", "Cache", "Catalog", "Larder", "Orders", "Pipeline", "SampleStore",
        "Support", "Transport", "Web",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]
    ),
    .testTarget(name: "ArchitectureTests"),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

// FORTIFY, which needs optimisation, in C of our own. As a flag of the whole build it would also stand where Swift reads the
// system's headers, and some modules would then have other definitions than the rest.
let nameOfC = /C[A-Z].*/
for target in package.targets where target.name.wholeMatch(of: nameOfC) != nil {
  target.cSettings =
    (target.cSettings ?? []) + [
      .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))
    ]
}
