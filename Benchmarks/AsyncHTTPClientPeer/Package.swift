// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "AsyncHTTPClientPeer",
  dependencies: [
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
  ],
  targets: [
    .executableTarget(
      name: "ahc-peer",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
