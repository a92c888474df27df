// Fetches a list of URLs with async-http-client, up to CONNECTIONS at a time in a task group.
//   ahc-peer URLS FOLDER CONNECTIONS [CA-FILE]
import AsyncHTTPClient
import Foundation
import NIOSSL

let arguments = CommandLine.arguments
let urls = try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n")
let folder = arguments[2]
let connections = Int(arguments[3]) ?? 50
var configuration = HTTPClient.Configuration()
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
if arguments.count > 4 {
  var tls = TLSConfiguration.makeClientConfiguration()
  tls.trustRoots = .file(arguments[4])
  configuration.tlsConfiguration = tls
}
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

@Sendable func fetch(_ url: String) async throws {
  let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
  let body = try await response.body.collect(upTo: 64 << 20)
  guard response.status == .ok, let name = url.split(separator: "/").last else { exit(1) }
  try Data(body.readableBytesView).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
}

try await withThrowingTaskGroup(of: Void.self) { group in
  for (number, url) in urls.enumerated() {
    if number >= connections { try await group.next() }
    group.addTask { try await fetch(String(url)) }
  }
  try await group.waitForAll()
}
try await client.shutdown()
