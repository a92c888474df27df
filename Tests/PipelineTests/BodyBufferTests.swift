import Cache
import Support
import Testing

@testable import Pipeline

/// Tests of ``BodyBuffer``, which collects the body of a transfer in memory or in a file of the cache.
struct BodyBufferTests {
  private static func body(_ count: Int, seed: UInt64 = 0) -> [UInt8] {
    var random = SplitMix64(seed)
    return random.bytes(count)
  }

  private func feed(_ buffer: BodyBuffer, _ body: [UInt8], pieces: Int) {
    for start in stride(from: 0, to: body.count, by: pieces) {
      let piece = Array(body[start...].prefix(pieces))
      _ = buffer.receive(piece.span.bytes)
    }
  }

  @Test(arguments: [0, 1, 700_000, 1 << 20, 3_500_000, 9_000_000, 20_000_000])
  func `a body of any size is stored in order`(count: Int) throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    let buffer = BodyBuffer(in: layout)
    let body = Self.body(count)

    feed(buffer, body, pieces: 16_000)
    let taken = buffer.take()

    #expect(try isSame(taken.whole(), body))
    #expect(taken.inMemory.isEmpty == (count == 0 || count > BodySpool.mostInMemory))
    #expect(try buffer.take().whole() == [])
  }

  @Test(arguments: [500_000, 5_000_000, 12_000_000])
  func `a restarted attempt leaves no bytes of the attempt before`(count: Int) throws {
    let folder = try TemporaryFolder()
    let buffer = BodyBuffer(in: try CacheLayout(creating: folder.path("cache")))

    feed(buffer, Self.body(count, seed: 7), pieces: 64_000)
    buffer.restart()
    feed(buffer, Self.body(count / 2), pieces: 64_000)

    #expect(try isSame(buffer.take().whole(), Self.body(count / 2)))
  }
}
