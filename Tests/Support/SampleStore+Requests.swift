import Base
import NIOCore

@testable import SampleStore

extension SampleStore {
  /// The number of requests for each path.
  package var requestCounts: [String: Int] {
    requests.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
  }
}

extension [HeaderField] {
  /// The value of the first field with a name; nil if there is none.
  package subscript(_ name: String) -> String? {
    first { $0.name.equalsIgnoringCase(name) }?.value
  }
}

extension Resource {
  /// Creates a JSON resource from its text.
  package init(json: String) {
    self.init(Array(json.utf8), type: "application/json")
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] {
    Array(body.readableBytesView)
  }
}
