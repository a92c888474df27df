import CCurl
import Glibc
import Support
import Testing
import Transport

@testable import CurlTransport

/// Errors for which libcurl has a message but no code, provoked for real: a libcurl with other
/// messages fails here.
@Suite struct LibraryWordsTests {
  /// Closes the connection after the first byte of the client's handshake.
  private func cuttingServer(resets: Bool) throws -> LoopbackListener {
    let listener = try LoopbackListener()
    listener.start { connection, _ in
      var byte: UInt8 = 0
      // Closing with unread bytes would cause a reset.
      if !resets {
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        _ = recv(connection, &piece, piece.count, 0)
      } else {
        _ = recv(connection, &byte, 1, 0)
      }
    }
    return listener
  }

  @Test(arguments: [false, true])
  func `a handshake that breaks off is reported as a reset and may be retried`(_ resets: Bool)
    throws
  {
    let server = try cuttingServer(resets: resets)
    defer { server.close() }

    let failure = try #require(try fetch("https://127.0.0.1:\(server.port)/").failure)

    #expect(failure.reason == .reset, "\(failure)")
  }

  @Test func `a handshake that is not answered with TLS is a permanent failure`() throws {
    let listener = try LoopbackListener()
    listener.start { connection, _ in
      var piece = [UInt8](repeating: 0, count: 1 << 14)
      _ = recv(connection, &piece, piece.count, 0)
      _ = Glibc.send(connection, "HTTP/1.1 400 No\r\n\r\n", 19, Int32(MSG_NOSIGNAL))
    }
    defer { listener.close() }

    let failure = try #require(try fetch("https://127.0.0.1:\(listener.port)/").failure)

    #expect(failure.reason == .tlsFailed, "\(failure)")
  }

  @Test func `broken chunks are explained, only for a chunked body`() throws {
    let server = ScriptedServer(
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n")
    )
    defer { server.close() }
    let plain = ResponseHead(
      status: 200,
      headers: Headers(),
      url: try CurlURLParser.parse("http://h/"),
      version: .http11,
      contentLength: nil,
      isEncoded: false,
      redirects: []
    )

    let failure = try #require(try fetch(server.url()).failure)

    #expect(failure.reason == .badResponse, "\(failure)")
    #expect(!LibcurlWords.tellBrokenChunks("chunk", plain))
  }
}
