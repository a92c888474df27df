import Testing

@testable import SampleStore

/// The simulated network link that limits the bandwidth of a sample store's answer.
@Suite struct LinkTests {
  @Test func `pieces are sent one after the other, each byte at its time`() {
    let link = Link(bytesPerSecond: 1000, piece: 20)

    #expect(link.reserve(500, at: 10) == 0.5)
    #expect(link.reserve(500, at: 10) == 1)
    #expect(link.reserve(250, at: 10.75) == 0.5)
  }

  @Test func `an idle link saves up no bandwidth`() {
    let link = Link(bytesPerSecond: 1000, piece: 20)
    _ = link.reserve(1000, at: 10)

    #expect(link.reserve(1000, at: 100) == 1)
  }
}
