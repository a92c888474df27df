import NIOHTTP1

/// One request that the store has had, and what it made of it.
public struct RequestRecord: Sendable {
  /// `GET`, `HEAD`, `POST` and so on.
  public let method: String
  /// The path as sent.
  public let path: String
  /// The query as sent, without its question mark.
  public let query: String?
  /// The status in the answer; nil when a fault left none.
  public let status: Int?
  /// Body bytes that were to be sent, without framing.
  public let bytes: Int

  let head: HTTPHeaders

  /// The header lines as sent.
  public var headers: [HeaderField] {
    head.map { HeaderField($0.name, $0.value) }
  }
}
