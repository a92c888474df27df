// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "SquarePictures",
  dependencies: [
    .package(name: "larder", path: "../.."),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    .executableTarget(
      name: "SquarePictures",
      dependencies: [
        .product(name: "Imaging", package: "larder"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]
    )
  ]
)
