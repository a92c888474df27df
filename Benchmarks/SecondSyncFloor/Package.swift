// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "SecondSyncFloor",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "CFetch", linkerSettings: [.linkedLibrary("curl")]),
    .executableTarget(
      name: "second-sync-floor",
      dependencies: [
        "CFetch",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
