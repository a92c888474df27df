import Base
import Cache
import Imaging

/// A `multipart/form-data` body. (RFC 7578)
///
/// The bytes depend only on the parts, so that the same form always has the same bytes. This includes the boundary,
/// which is the line between the parts.
struct MultipartForm {
  /// One field or file.
  struct Part: Equatable {
    var name: String
    /// The name of the file; nil if the field is not a file.
    var fileName: String?
    /// The media type; nil if the field is text.
    var type: String?
    var bytes: [UInt8]
  }

  /// The bytes of the body.
  let bytes: [UInt8]
  /// The value of the header field `Content-Type`.
  let contentType: String
  /// The SHA-256 of all parts in hexadecimal digits.
  let digest: String

  /// Makes the body of parts, in their order.
  init(_ parts: [Part]) {
    var content: [UInt8] = []
    for part in parts {
      content += Array(Self.head(of: part).utf8) + [0] + part.bytes + [0]
    }
    digest = Hexadecimal.text(ContentDigest.sha256(content))
    // No part contains the boundary, because nobody can make a part that contains the digest of all parts.
    let boundary = "larder-\(digest.prefix(40))"
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.count + parts.count * 64 + 64)
    for part in parts {
      bytes += Array("--\(boundary)\r\n\(Self.head(of: part))\r\n\r\n".utf8)
      bytes += part.bytes
      bytes += [13, 10]
    }
    bytes += Array("--\(boundary)--\r\n".utf8)
    self.bytes = bytes
    contentType = "multipart/form-data; boundary=\(boundary)"
  }

  private static func head(of part: Part) -> String {
    var head = "Content-Disposition: form-data; name=\"\(escaped(part.name))\""
    if let fileName = part.fileName { head += "; filename=\"\(escaped(fileName))\"" }
    if let type = part.type { head += "\r\nContent-Type: \(type)" }
    return head
  }

  /// Escapes quotes and line breaks as browsers do. (HTML, section 4.10.21.8)
  private static func escaped(_ name: String) -> String {
    name.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\"": text += "%22"
      case "\r": text += "%0D"
      case "\n": text += "%0A"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension MultipartForm {
  /// The form that posts a stamped photo, which is the last field.
  ///
  /// - Parameters:
  ///   - time: The time on the stamp; nil if it is not known.
  ///   - text: The text on the stamp; an empty string if there is none.
  ///   - jpeg: The photo.
  ///   - fileName: The name of the photo's file.
  init(time: CivilTime?, text: String, jpeg: [UInt8], fileName: String) {
    let dateTime = time.map { Part(name: "dateTime", bytes: Array($0.text.utf8)) }
    self.init(
      (dateTime.map { [$0] } ?? []) + [
        Part(name: "timeStampContents", bytes: Array(text.utf8)),
        Part(name: "image", fileName: fileName, type: "image/jpeg", bytes: jpeg),
      ]
    )
  }
}
