import NIOHTTP1

/// One request that the store has had, and what it made of it.
package struct RequestRecord: Sendable {
  /// `GET`, `HEAD`, `POST` and so on.
  package let method: String
  /// The path as sent.
  package let path: String
  /// The query as sent, without its question mark.
  package let query: String?
  /// The status in the answer; nil when a fault left none.
  package let status: Int?
  /// Body bytes that were to be sent, without framing.
  package let bytes: Int

  let head: HTTPHeaders

  /// The header lines as sent.
  package var headers: [HeaderField] {
    head.map { HeaderField($0.name, $0.value) }
  }
}
