import Foundation
import SampleStore
import Support

import class Support.ClosedPort

/// A small shop on a loopback server, with a catalog file and its own cache.
///
/// Two sections: `main` lists A1, A2 and an item without an id; `soup` lists S1, which has no
/// detail. There are five pictures: three thumbnails, and one in the details of A1 and A2 each.
final class Shop: Sendable {
  let store: SampleStore
  let folder: TemporaryFolder
  /// The catalog file's path.
  let catalog: String
  /// The cache's path.
  let cache: String
  /// The unused port that stands for the shop while it is not open.
  private let closed: ClosedPort?

  /// Starts the shop; `faults` is the text of a fault script.
  init(faults: String = "", headers: String = "", isOpen: Bool = true) throws {
    folder = try TemporaryFolder()
    cache = folder.path("cache")
    closed = isOpen ? nil : try ClosedPort()
    store = try SampleStore(Self.content(), faults: FaultScript(text: faults))
    let base = closed?.baseURL ?? "\(store.baseURL)"
    catalog = try folder.write(
      """
      name: banchan
      currency: KRW
      base: \(base)/develop/
      sections:
        - {key: main, title: 메인반찬, subtitle: 한그릇 뚝딱 메인 요리, url: main}
        - {key: soup, title: 국.찌게, subtitle: 김이 모락모락 국.찌게, url: soup}
      detail: {url: "detail/{id}"}
      format: banchan
      \(headers)
      """,
      to: "shop.yaml"
    )
  }

  deinit {
    store.stop()
  }

  /// Runs a subcommand on this shop's cache and waits for its end.
  func larder(
    _ arguments: String...,
    environment: [String: String] = [:],
    terminal: Running.Terminal? = nil
  ) throws -> Command {
    try Command.larder(
      arguments + ["--cache", cache],
      environment: environment,
      terminal: terminal
    )
  }

  /// Syncs this shop into its cache.
  func sync(
    _ arguments: String...,
    environment: [String: String] = [:],
    terminal: Running.Terminal? = nil
  ) throws -> Command {
    try Command.larder(
      ["sync", catalog, "--cache", cache, "--retries", "0"] + arguments,
      environment: environment,
      terminal: terminal
    )
  }

  /// Starts a sync and returns once the shop has received `requests` requests in all.
  func startSync(requests: Int, _ arguments: String...) throws -> Running {
    let running = try Running(
      Command.binary,
      ["sync", catalog, "--cache", cache, "--retries", "0"] + arguments
    )
    guard store.waitForRequests(requests) else {
      throw CommandError("the shop was asked \(store.requests.count) times, not \(requests)")
    }
    return running
  }

  /// Replaces the listing of a section.
  func list(_ items: [String], in section: String) {
    store.content["/develop/\(section).json"] = Resource(
      json: "[\(items.joined(separator: ","))]"
    )
  }

  /// The number of requests of a first sync: two sections, three details, five pictures.
  static let requests = 10

  /// An item in the JSON of the format `banchan`.
  static func item(_ id: String, price: String = "7,000원", picture: String? = nil) -> String {
    """
    {"detail_hash": "\(id)", "image": "/pictures/\(picture ?? id).jpg", "alt": "\(id)",
     "delivery_type": ["새벽배송"], "title": "반찬 \(id)", "description": "맛있는 \(id)",
     "n_price": "8,000원", "s_price": "\(price)", "badge": ["이벤트특가"]}
    """
  }

  /// A file with the first and last marker of a JPEG and the label between them.
  static func picture(_ label: String) -> Resource {
    Resource(bytes(label), type: "image/jpeg", lastModified: 1_610_000_000)
  }

  /// The bytes of ``picture(_:)``.
  static func bytes(_ label: String) -> [UInt8] {
    [0xFF, 0xD8, 0xFF, 0xE0] + Array("JFIF \(label)".utf8) + [0xFF, 0xD9]
  }

  private static func content() -> SampleContent {
    let content = SampleContent()
    let nameless = #"{"title": "이름 없는 반찬", "s_price": "1,000원"}"#
    content["/develop/main.json"] = Resource(
      json: "[\(item("A1")), \(item("A2")), \(nameless)]"
    )
    content["/develop/soup.json"] = Resource(
      json: #"{"statusCode": 200, "body": [\#(item("S1"))]}"#
    )
    for id in ["A1", "A2"] {
      content["/develop/detail/\(id).json"] = Resource(
        json: """
          {"hash": "\(id)", "data": {"top_image": "/pictures/\(id)-top.jpg",
           "thumb_images": ["/pictures/\(id)-top.jpg"], "product_description": "맛있는 \(id)",
           "point": "70원", "delivery_info": "새벽배송", "delivery_fee": "2,500원",
           "prices": ["7,000원"], "detail_section": []}}
          """
      )
      content["/pictures/\(id)-top.jpg"] = picture("\(id) from above")
    }
    for id in ["A1", "A2", "S1"] { content["/pictures/\(id).jpg"] = picture(id) }
    return content
  }
}
