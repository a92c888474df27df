import Support

/// The cases of ``FaultMatrixTests`` about heads, redirects and slow answers.
extension FaultMatrixTests {
  /// Responses with an invalid head.
  static var heads: [MatrixCase] {
    let length = "Content-Length: 3000\r\n\r\n"
    let part = "HTTP/1.1 206 Part\r\nContent-Length: 2000\r\n"
    return [
      right("interim answers", .send("HTTP/1.1 103 E\r\nLink: x\r\n\r\n" + ok + length), bytes()),
      right(
        "a head of a thousand fields",
        .send(ok + String(repeating: "X: y\r\n", count: 1000) + length),
        bytes()
      ),
      right("a folded field", .send(ok + "X: a\r\n b\r\n" + length), bytes()),
      wrong("no HTTP", [.badResponse, .reset], .send("SSH-2.0-server\r\n"), .close),
      wrong(
        "an HTTP of the future",
        [.badResponse, .reset],
        .send("HTTP/7.3 200 OK\r\n" + length),
        bytes(),
        .close
      ),
      wrong("no status", [.badResponse], .send("HTTP/1.1\r\n" + length), bytes(), .close),
      wrong(
        "a status of letters",
        [.badResponse],
        .send("HTTP/1.1 2OO OK\r\n" + length),
        bytes(),
        .close
      ),
      wrong(
        "a status of four digits",
        [.badResponse],
        .send("HTTP/1.1 2000 OK\r\n" + length),
        bytes(),
        .close
      ),
      wrong(
        "a NUL in the head",
        [.badResponse],
        .bytes(Array((ok + "X: ").utf8) + [0] + Array(("\r\n" + length).utf8)),
        bytes(),
        .close
      ),
      wrong(
        "interim answers without end",
        [.tooLongHeader],
        .flood("HTTP/1.1 100 Continue\r\n\r\n")
      ),
      wrong(
        "early hints without end",
        [.tooLongHeader],
        .flood("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
      ),
      wrong("fields without end", [.tooLongHeader], .send(ok), .flood("X-Filler: yes\r\n")),
      wrong(
        "one field without end",
        [.tooLongHeader],
        .send(ok + "X: "),
        .flood("xxxxxxxxxxxxxxxx")
      ),
      wrong(
        "a status line without end",
        [.tooLongHeader, .badResponse],
        .send("HTTP/1.1 200 "),
        .flood("OKOKOKOK")
      ),
      wrong(
        "trailers without end",
        [.tooLongHeader],
        .send(chunked + "bb8\r\n"),
        bytes(),
        .send("\r\n0\r\n"),
        .flood("X: y\r\n")
      ),
      wrong(
        "304 with nothing held",
        [.badResponse],
        .send("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n")
      ),
      wrong(
        "a part that nobody asked for",
        [.badResponse],
        .send(part + "Content-Range: bytes 1000-2999/3000\r\n\r\n"),
        bytes(2000)
      ),
      wrong(
        "the first part of a whole",
        [.badResponse],
        .send(part + "Content-Range: bytes 0-1999/3000\r\n\r\n"),
        bytes(2000)
      ),
      wrong("a part of nothing", [.badResponse], .send(part + "\r\n"), bytes(2000)),
      wrong(
        "several parts",
        [.badResponse],
        .send(part + "Content-Type: multipart/byteranges; boundary=x\r\n\r\n"),
        bytes(2000)
      ),
      wrong(
        "a range that cannot be met",
        [.http(416)],
        .send("HTTP/1.1 416 No\r\nContent-Range: bytes */10\r\nContent-Length: 0\r\n\r\n")
      ),
      wrong(
        "another protocol",
        [.badResponse, .http(101), .reset, .timeoutIdle],
        .send("HTTP/1.1 101 S\r\nUpgrade: ws\r\nConnection: upgrade\r\n\r\n"),
        .close
      ),
      wrong(
        "a page in place of a picture",
        [.notAPicture],
        .send(ok + "Content-Type: image/jpeg\r\nContent-Length: 18\r\n\r\n<html>sorry</html>"),
        .close
      ),
      wrong(
        "JSON in place of a picture",
        [.notAPicture],
        .send(ok + "Content-Length: 18\r\n\r\n{\"statusCode\":200}")
      ),
      wrong(
        "a refusal without end",
        [.http(503)],
        .send("HTTP/1.1 503 No\r\n\r\n"),
        .flood("sorry ")
      ),
      wrong(
        "a status beyond the known",
        [.http(999)],
        .send("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n")
      ),
      wrong(
        "not found, with a picture",
        [.http(404)],
        .send("HTTP/1.1 404 No\r\n" + length),
        bytes()
      ),
      wrong("not allowed", [.http(403)], .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")),
      wrong(
        "a wish for a password",
        [.http(401)],
        .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
      ),
      wrong(
        "a wish for a proxy's password",
        [.http(407)],
        .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
      ),
    ]
  }

  /// Invalid redirects. (RFC 9110, section 15.4)
  static var redirects: [MatrixCase] {
    @Sendable func to(_ place: String, _ status: Int = 302) -> [ScriptedServer.Action] {
      [.send("HTTP/1.1 \(status) F\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")]
    }
    @Sendable func hop(_ request: ScriptedServer.Received) -> (case: Substring, number: Int) {
      let parts = request.path.split(separator: "/")
      return (parts.first ?? "", Int(parts.last ?? "") ?? 0)
    }
    let chains = [301, 302, 303, 307, 308].map { status in
      MatrixCase("a chain of 51 by \(status)", .refused([.tooManyRedirects])) { request in
        let (name, number) = hop(request)
        if number == 51 { return [.send(ok + "Content-Length: 3000\r\n\r\n"), bytes()] }
        return to("/\(name)/\(number + 1)", status)
      }
    }
    let short = MatrixCase("a chain of 9", .held(body)) { request in
      let (name, number) = hop(request)
      if number == 9 { return [.send(ok + "Content-Length: 3000\r\n\r\n"), bytes()] }
      return to("/\(name)/\(number + 1)")
    }
    return chains + [
      short,
      MatrixCase("a redirect to itself", .refused([.redirectLoop])) { to($0.path) },
      MatrixCase("a loop of two", .refused([.redirectLoop])) { request in
        to("/\(hop(request).case)/\(1 - hop(request).number)")
      },
      MatrixCase("nowhere", .refused([.redirectInvalid])) { _ in
        [.send("HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n")]
      },
      MatrixCase("an empty place", .refused([.redirectInvalid])) { _ in to("") },
      MatrixCase("no port", .refused([.redirectInvalid])) { _ in to("http://h:99999/") },
      MatrixCase("a file", .refused([.schemeRefused])) { _ in to("file:///etc/passwd") },
      MatrixCase("a script", .refused([.schemeRefused])) { _ in to("javascript:alert(1)") },
      MatrixCase("data", .refused([.schemeRefused])) { _ in to("data:image/png;base64,AA==") },
      MatrixCase("a gopher", .refused([.schemeRefused])) { _ in to("gopher://127.0.0.1:70/1") },
    ]
  }

  /// Answers that never end or arrive too slowly.
  static var slow: [MatrixCase] {
    [
      wrong("silence", [.timeoutIdle], .hang),
      wrong("silence after the status", [.timeoutIdle], .send(ok), .hang),
      wrong(
        "silence in the body",
        [.timeoutIdle],
        .send(ok + "Content-Length: 3000\r\n\r\n"),
        bytes(500),
        .hang
      ),
      wrong(
        "silence at the last byte",
        [.timeoutIdle],
        .send(ok + "Content-Length: 3000\r\n\r\n"),
        bytes(2999),
        .hang
      ),
      wrong(
        "a status line a byte at a time",
        [.timeoutIdle],
        .send("HTTP/1.1 200 "),
        .drip(UInt8(ascii: "O"))
      ),
      wrong(
        "a field a byte at a time",
        [.timeoutIdle],
        .send(ok + "X: "),
        .drip(UInt8(ascii: "x"))
      ),
      wrong(
        "a body a byte at a time",
        [.timeoutIdle],
        .send(ok + "Content-Length: 3000\r\n\r\n"),
        bytes(100),
        .drip(0)
      ),
      wrong(
        "chunks a byte at a time",
        [.timeoutIdle],
        .send(chunked + "bb8\r\n"),
        bytes(100),
        .drip(0)
      ),
    ]
  }
}
