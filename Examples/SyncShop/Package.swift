// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "SyncShop",
  dependencies: [.package(name: "larder", path: "../..")],
  targets: [
    .executableTarget(
      name: "SyncShop",
      dependencies: [.product(name: "Larder", package: "larder")]
    )
  ]
)
