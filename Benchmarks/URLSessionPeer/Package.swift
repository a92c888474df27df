// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "URLSessionPeer",
  targets: [.executableTarget(name: "urlsession-peer")],
  swiftLanguageModes: [.v6]
)
