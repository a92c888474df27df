import NIOCore
import NIOHTTP1

/// What is known of a request once it was answered, for the log and the counts.
package struct RequestRecord: Sendable {
  /// The kinds of paths that are counted apart.
  package enum Route: String, CaseIterable, Sendable {
    case page, sections, section, item, search, openapi, image, square, health, metrics, refused
  }

  /// Who asked.
  package let client: String
  /// The method as it was sent.
  package let method: String
  /// The target as it was sent, whole.
  package let target: String
  /// What kind of path it was.
  package var route = Route.refused
  /// The answer's status.
  package var status = 0
  /// Why the server failed; nil when it did not, or nobody knows.
  package var cause: String?
  /// The length of its body, as far as it was to be sent.
  package var bytes = 0
  /// From the end of the request to the end of the answer.
  package private(set) var seconds = 0.0
  private let began = NIODeadline.now()

  init(_ head: HTTPRequestHead, _ client: SocketAddress?) {
    self.client = client?.ipAddress ?? "-"
    method = head.method.rawValue
    target = head.uri
  }

  /// What could not be read as a request.
  init(unreadable client: SocketAddress?) {
    self.client = client?.ipAddress ?? "-"
    method = "-"
    target = "-"
  }

  mutating func end() {
    seconds = Double((NIODeadline.now() - began).nanoseconds) / 1e9
  }
}
