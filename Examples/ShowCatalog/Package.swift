// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ShowCatalog",
  dependencies: [
    .package(name: "larder", path: "../.."),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird",
      from: "2.28.1",
      traits: []
    ),
  ],
  targets: [
    .executableTarget(
      name: "ShowCatalog",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ]
    )
  ]
)
