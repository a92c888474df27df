import Base
import Cache
import CurlTransport
import Foundation
import Hashing
import Support
import Testing

@testable import ObjectStore

/// The signatures of libcurl, compared with the signatures that a store computes. (AWS Signature
/// Version 4, "Create a signed request")
struct SignatureTests {
  /// A store that accepts every request and closes the connection after each, because it does not
  /// read bodies.
  private func server() throws -> ScriptedServer {
    ScriptedServer { _ in
      [
        .send(
          "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ), .close,
      ]
    }
  }

  private func store(_ server: ScriptedServer, _ curl: CurlTransport) throws -> ObjectStore {
    let environment = try S3Environment([
      "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush/hush+=",
      "AWS_SESSION_TOKEN": "token/of+the=test", "AWS_REGION": "eu-central-1",
      "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(server.port)",
    ])
    return ObjectStore(try S3Location(parsing: "s3://shop/a~b/c"), environment, transport: curl)
  }

  @Test func `a HEAD reports an object longer than any answer that is read`() throws {
    let server = ScriptedServer { _ in
      [
        .send(
          "HTTP/1.1 200 OK\r\nETag: \"t\"\r\nContent-Length: 67108864\r\nConnection: close\r\n\r\n"
        ), .close,
      ]
    }
    let curl = try CurlTransport(TransportOptions())
    defer { curl.shutdown() }
    let store = try store(server, curl)
    let path = "images/3f/dish_1-0123456789ab.jpg"

    let rows = try S3Pictures(store).rows(at: [path])

    #expect(rows[path]?.bytes == 67_108_864)
    #expect(throws: LarderError.self) { try store.answer(.get, path, doing: "read") }
  }

  @Test func `every kind of request is signed correctly and shows no secret`() throws {
    let server = try server()
    let curl = try CurlTransport(TransportOptions())
    defer { curl.shutdown() }
    let store = try store(server, curl)
    let name = "images/3f/dish_1-0123456789ab.jpg"

    _ = try? store.forEach(below: "images/") { _ in }
    _ = try store.answer(.get, name, doing: "read")
    _ = try store.answer(.head, name, doing: "read")
    _ = try store.answer(
      .put,
      name,
      headers: [
        "Content-Type": "image/jpeg", "x-amz-meta-larder-url": "http%3A%2F%2Fa%2F%3Fb",
        "x-amz-meta-larder-times": "1.2.3", "x-amz-meta-larder-sha256": "00",
      ],
      body: [1, 2, 3],
      doing: "write"
    )
    _ = try store.create([1], at: "manifest", type: "text/plain")
    _ = try store.answer(
      .put,
      name,
      query: ["empty": "", "marker": "a/b+c=d"],
      headers: ["Content-Type": "application/octet-stream"],
      body: [],
      doing: "write"
    )
    try store.remove([name])

    _ = try store.answer(.get, name, headers: ["Range": "bytes=0-6"], doing: "read")

    // Nine requests, because a conditional create is followed by a read of the object.
    #expect(server.received.count == 9)
    for request in server.received {
      let signed = try Signed(request.text)
      #expect(signed.isRight(secret: "hush/hush+="), "\(request.text)")
      #expect(request.header("x-amz-security-token") == "token/of+the=test")
      #expect(!request.text.contains("hush"))
    }
  }
}

/// A request as the store parses it.
private struct Signed {
  let verb: String
  let target: String
  var headers: [String: String] = [:]
  var names: [String] = []
  var scope: [String] = []
  var signature = ""

  init(_ text: String) throws {
    let lines = text.components(separatedBy: "\r\n").prefix { !$0.isEmpty }
    let start = try #require(lines.first).split(separator: " ").map(String.init)
    (verb, target) = (start[0], start[1])
    for line in lines.dropFirst() {
      let colon = try #require(line.firstIndex(of: ":"))
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      headers[line[..<colon].lowercased()] = value
    }
    for part in try #require(headers["authorization"]).split(separator: " ").dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1)
      let value = String(sides[1]).replacing(",", with: "")
      switch sides[0] {
      case "Credential": scope = value.split(separator: "/").dropFirst().map(String.init)
      case "SignedHeaders": names = value.split(separator: ";").map(String.init)
      default: signature = value
      }
    }
  }

  func isRight(secret: String) -> Bool {
    guard names == names.sorted(), names.allSatisfy({ headers[$0] != nil }),
      names.contains("host"), names.contains("x-amz-content-sha256"),
      names.contains("x-amz-security-token")
    else { return false }
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count > 1 ? String(parts[1]) : ""
    // The canonical query: sorted, and every name with an equals sign.
    let sorted = query.split(separator: "&").map { $0.contains("=") ? "\($0)" : "\($0)=" }.sorted()
      .joined(separator: "&")
    let lines = names.map { "\($0):\(headers[$0] ?? "")\n" }.joined()
    let canonical = [
      verb, String(parts[0]), sorted, lines, names.joined(separator: ";"),
      headers["x-amz-content-sha256"] ?? "",
    ].joined(separator: "\n")
    let text = [
      "AWS4-HMAC-SHA256", headers["x-amz-date"] ?? "", scope.joined(separator: "/"),
      Hexadecimal.text(SHA256.digest(of: Array(canonical.utf8))),
    ].joined(separator: "\n")
    var key = Array("AWS4\(secret)".utf8)
    for part in scope + [text] {
      key = SHA256.code(of: Array(part.utf8), key: key)
    }
    return Hexadecimal.text(key) == signature
  }
}
