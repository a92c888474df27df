import FoundationEssentials

/// What a server says of an upload: `{"status": 400, "success": false, "message": "…", "data": …}`.
///
/// Every key may be missing; a reply that is no such object says nothing beyond its HTTP status.
struct UploadReply: Equatable {
  /// The reply's own status.
  var status: Int?
  /// Whether it claims success.
  var success: Bool?
  /// Its words, fit for a terminal; at most 300 characters.
  var message: String?

  /// Whether nothing in the reply speaks against the 2xx that it came with.
  var isAccepted: Bool {
    success != false && !(status.map { $0 >= 400 } ?? false)
  }

  /// Reads a reply; `secret` is taken out of its words, as some servers repeat what they refuse.
  init(_ body: [UInt8], hiding secret: String?) {
    guard let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(body)) else { return }
    status = envelope.status
    success = envelope.success
    message = envelope.message.map { Self.plain($0, hiding: secret) }
  }

  private static func plain(_ message: String, hiding secret: String?) -> String {
    var message = message
    if let secret, !secret.isEmpty { message = message.replacing(secret, with: "***") }
    // A server's words must not move the cursor of whoever reads them.
    let safe = message.unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : String($0)
    }
    return String(safe.joined().prefix(300))
  }

  private struct Envelope: Decodable {
    var status: Int?
    var success: Bool?
    var message: String?

    private enum Key: String, CodingKey {
      case status, success, message
    }

    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: Key.self)
      // Servers write numbers as text and text as lists; what cannot be read is as if it were not there.
      status =
        (try? object.decode(Int.self, forKey: .status))
        ?? (try? object.decode(String.self, forKey: .status)).flatMap { Int($0) }
      success =
        (try? object.decode(Bool.self, forKey: .success))
        ?? (try? object.decode(String.self, forKey: .success)).flatMap { Bool($0) }
      message =
        (try? object.decode(String.self, forKey: .message))
        ?? (try? object.decode([String].self, forKey: .message))?.joined(separator: ", ")
    }
  }
}
