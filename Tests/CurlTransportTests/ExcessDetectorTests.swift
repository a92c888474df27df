import Support
import Testing

@testable import CurlTransport

/// The choice of sockets that are checked for bytes after the body.
@Suite struct ExcessDetectorTests {
  @Test(arguments: [
    (closes: true, isPlain: true, isWatched: true),
    // Here it is chance whether the close_notify arrives before libcurl's last read.
    (closes: true, isPlain: false, isWatched: false),
    (closes: false, isPlain: true, isWatched: false),
    (closes: false, isPlain: false, isWatched: false),
  ])
  func `only a closing plain socket is checked for excess bytes`(
    _ connection: (closes: Bool, isPlain: Bool, isWatched: Bool)
  ) throws {
    let multi = try MultiHandle()
    let easy = try EasyHandle()
    let detector = ExcessDetector(multi.watch)
    detector.guardHandle(easy)
    detector.prepare(easy)

    detector.expect(5, close: connection.closes, isPlain: connection.isPlain, easy)
    detector.bodyEnded()

    #expect((multi.watch.pointee.armed != nil) == connection.isWatched)
  }
}
