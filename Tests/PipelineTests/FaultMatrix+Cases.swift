import Support
import Transport

/// The cases of ``FaultMatrixTests`` about the length, the end and the coding of bodies over HTTP/1.1.
extension FaultMatrixTests {
  static let body = MatrixCase.picture(0)
  static let ok = "HTTP/1.1 200 OK\r\n"
  static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

  static func bytes(_ count: Int = body.count) -> ScriptedServer.Action {
    .bytes(Array(body.prefix(count)))
  }

  /// A case with one faulty answer and its expected result.
  static func wrong(
    _ name: String,
    _ reasons: [FailureReason],
    _ actions: ScriptedServer.Action...
  ) -> MatrixCase {
    MatrixCase(name, .refused(reasons)) { _ in actions }
  }

  static func right(_ name: String, _ actions: ScriptedServer.Action...) -> MatrixCase {
    MatrixCase(name, .held(body)) { _ in actions }
  }

  /// Bodies with an invalid length or end. (RFC 9112, sections 6 and 7)
  static var framing: [MatrixCase] {
    let length = ok + "Content-Length: 3000\r\n\r\n"
    return [
      right("a length that is right", .send(length), bytes()),
      right("a length told twice", .send(ok + "Content-Length: 3000, 3000\r\n\r\n"), bytes()),
      right(
        "a length in two like fields",
        .send(ok + "Content-Length: 3000\r\nContent-Length: 3000\r\n\r\n"),
        bytes()
      ),
      right("a body that ends with the connection", .send(ok + "\r\n"), bytes(), .close),
      right(
        "chunks",
        .send(chunked + "bb8;x=y\r\n"),
        bytes(),
        .send("\r\n0\r\nX: y\r\n\r\n")
      ),
      wrong(
        "a body without a length, cut short",
        [.truncated],
        .send(ok + "\r\n"),
        bytes(2000),
        .close
      ),
      wrong("one byte short", [.truncated], .send(length), bytes(2999), .close),
      wrong("no body", [.truncated], .send(length), .close),
      // In one write: a byte in a second write may come after the answer is complete, and nobody waits for it.
      wrong("one byte more", [.lengthMismatch], .send(length), .bytes(body + [0x78]), .close),
      wrong(
        "much more",
        [.lengthMismatch],
        .send(length),
        .bytes(body + body + body + body),
        .close
      ),
      wrong(
        "lengths that differ",
        [.lengthMismatch, .badResponse],
        .send(ok + "Content-Length: 3000\r\nContent-Length: 2000\r\n\r\n"),
        bytes()
      ),
      wrong(
        "lengths that differ in one field",
        [.lengthMismatch],
        .send(ok + "Content-Length: 3000, 2000\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a negative length",
        [.badResponse, .lengthMismatch],
        .send(ok + "Content-Length: -3000\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a length that is no number",
        [.badResponse, .lengthMismatch],
        .send(ok + "Content-Length: many\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a length in hexadecimal",
        [.badResponse, .lengthMismatch],
        .send(ok + "Content-Length: 0xbb8\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a length with a sign",
        [.badResponse, .lengthMismatch],
        .send(ok + "Content-Length: +3000\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a length beyond all numbers",
        [.badResponse, .lengthMismatch, .tooLarge],
        .send(ok + "Content-Length: 99999999999999999999\r\n\r\n"),
        bytes()
      ),
      wrong(
        "a length over the limit",
        [.tooLarge],
        .send(ok + "Content-Length: 67108865\r\n\r\n"),
        bytes()
      ),
      wrong("a length of nothing", [.notAPicture], .send(ok + "Content-Length: 0\r\n\r\n")),
      wrong("no content", [.notAPicture], .send("HTTP/1.1 204 No\r\n\r\n")),
      wrong("chunks that end early", [.truncated], .send(chunked + "bb8\r\n"), bytes(), .close),
      wrong("a chunk cut short", [.truncated], .send(chunked + "bb8\r\n"), bytes(99), .close),
      wrong(
        "a chunk size that is none",
        [.badResponse],
        .send(chunked + "zz\r\n"),
        bytes(),
        .send("\r\n0\r\n\r\n")
      ),
      wrong(
        "a negative chunk size",
        [.badResponse, .truncated],
        .send(chunked + "-bb8\r\n"),
        bytes(),
        .close
      ),
      wrong(
        "a chunk size beyond all numbers",
        [.badResponse, .truncated],
        .send(chunked + "fffffffffffffffff\r\n"),
        bytes(),
        .close
      ),
      wrong(
        "a chunk longer than it says",
        [.badResponse],
        .send(chunked + "3e8\r\n"),
        bytes(),
        .send("\r\n0\r\n\r\n"),
        .close
      ),
      wrong("no first chunk", [.truncated], .send(chunked), .close),
      wrong("an empty chunked body", [.notAPicture], .send(chunked + "0\r\n\r\n")),
      wrong("a reset in the body", [.reset, .truncated], .send(length), bytes(1000), .reset),
      wrong("a reset before the head", [.reset], .reset),
      wrong("a reset in the head", [.reset, .truncated], .send(ok + "Conte"), .reset),
      wrong("an end before the head", [.reset], .close),
      wrong(
        "an end in the head",
        [.reset, .truncated, .notAPicture, .badResponse],
        .send(ok + "Content-Le"),
        .close
      ),
    ]
  }

  /// Bodies with an invalid content coding. (RFC 9110, section 8.4)
  static var codings: [MatrixCase] {
    @Sendable func coded(_ coding: String, _ bytes: [UInt8]) -> [ScriptedServer.Action] {
      [
        .send(ok + "Content-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n"),
        .bytes(bytes),
      ]
    }
    let large = gzipBomb(Array(body.prefix(64)), zeros: 1 << 30)
    let stacked = gzipBomb(Array(large.prefix(200)), zeros: large.count - 200)
    return [
      MatrixCase("a gigabyte in a megabyte", .refused([.tooLarge])) { _ in coded("gzip", large) },
      MatrixCase("a bomb in a bomb", .refused([.tooLarge])) { _ in
        coded("gzip, gzip", stacked)
      },
      MatrixCase("a coding that was not applied", .refused([.badEncoding])) { _ in
        coded("gzip", body)
      },
      MatrixCase("a coded body cut short", .refused([.truncated, .badEncoding])) { _ in
        coded("gzip", Array(gzipBomb(body, zeros: 0).prefix(1000)))
      },
      MatrixCase("more codings than anybody uses", .refused([.badEncoding, .badResponse])) { _ in
        coded("gzip, gzip, gzip, gzip, gzip, gzip, gzip", gzipBomb(body, zeros: 0))
      },
      MatrixCase("broken deflate", .refused([.badEncoding])) { _ in
        coded("deflate", [0x78, 0x9C] + body)
      },
      MatrixCase("broken brotli", .refused([.badEncoding])) { _ in
        coded("br", [0xFF, 0xFF, 0xFF] + body)
      },
      MatrixCase("a coding that nobody knows", .held(body)) { _ in coded("aws-chunked", body) },
      MatrixCase("no coding, said aloud", .held(body)) { _ in coded("identity", body) },
    ]
  }
}
