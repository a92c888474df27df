import Testing

@testable import SampleStore

/// The simulated network link that limits a sample store's bandwidth.
@Suite struct LinkTests {
  @Test func `bodies are sent one after the other, each byte at its time`() {
    let link = Link(bytesPerSecond: 1000)

    #expect(link.reserve(500, at: 10) == 0.5)
    #expect(link.reserve(500, at: 10) == 1)
    #expect(link.reserve(250, at: 10.75) == 0.5)
  }

  @Test func `an idle link saves up no bandwidth`() {
    let link = Link(bytesPerSecond: 1000)
    _ = link.reserve(1000, at: 10)

    #expect(link.reserve(1000, at: 100) == 1)
  }

  @Test func `the answers of a store share its bandwidth`() throws {
    let picture = try Picture([0xFF, 0xD8, 0xFF, 0xD9])
    let content = SampleContent(["/1.jpg": picture.resource("1", byteCount: 40_000)])
    let store = try SampleStore.start(content, bytesPerSecond: 400_000)
    defer { store.stop() }

    let began = SampleStore.now()
    let answer = try store.ask("/1.jpg")

    #expect(answer.body.count == 40_000)
    #expect(SampleStore.now() - began >= 0.1)
  }
}
