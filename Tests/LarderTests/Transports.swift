import Foundation
import Larder
import Synchronization

/// A transport that never answers until it is cancelled.
final class Hanging: ShopTransport {
  private let requests = AsyncStream.makeStream(of: Void.self)
  private let answers = AsyncStream.makeStream(of: Void.self)

  func respond(to request: ShopRequest) async throws -> ShopResponse {
    requests.continuation.yield()
    // Nothing is ever yielded, so the loop ends only when the task is cancelled.
    for await _ in answers.stream {}
    throw CancellationError()
  }

  /// Waits for the first request.
  func firstRequest() async {
    for await _ in requests.stream { return }
  }
}

/// A transport that serves a shop from memory.
///
/// The shop has one item, with a real photo.
final class StoreFiles: ShopTransport {
  /// The catalog.
  let catalog: CatalogFile
  private let photo: [UInt8]
  private let log = Mutex<[ShopRequest]>([])

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    photo = [UInt8](
      try Data(contentsOf: root.appending(path: "samples/photo/wakeup-12mp.jpg"))
    )
    catalog = try CatalogFile(
      parsing: Array(
        """
        name: memory
        currency: KRW
        base: https://shop.test/
        sections: [{key: main, title: Main, url: list}]
        """.utf8
      ),
      file: "memory.yaml"
    )
  }

  /// The requests received so far.
  var asked: [ShopRequest] { log.withLock(\.self) }

  func respond(to request: ShopRequest) async throws -> ShopResponse {
    log.withLock { $0.append(request) }
    switch request.url {
    case "https://shop.test/list":
      let list = #"[{"detail_hash": "A1", "title": "Dish", "image": "/one.jpg"}]"#
      return ShopResponse(body: Array(list.utf8))
    case "https://shop.test/one.jpg":
      let fields = [ShopHeader("ETag", "\"one\""), ShopHeader("Cache-Control", "max-age=60")]
      guard request["if-none-match"] == nil else {
        return ShopResponse(status: 304, headers: fields)
      }
      return ShopResponse(headers: fields, body: photo)
    default:
      return ShopResponse(status: 404)
    }
  }
}

/// A transport that answers a GraphQL query with one dish, and any other request with an empty
/// body.
final class GraphQL: ShopTransport {
  private let log = Mutex<[ShopRequest]>([])

  /// The requests received so far.
  var asked: [ShopRequest] { log.withLock(\.self) }

  func respond(to request: ShopRequest) async throws -> ShopResponse {
    log.withLock { $0.append(request) }
    guard request.method == .post, request.body != nil else { return ShopResponse(status: 405) }
    let answer = #"{"data": {"dishes": [{"detail_hash": "A1", "title": "Dish"}]}}"#
    return ShopResponse(body: Array(answer.utf8))
  }
}
