import Testing

@testable import Cache

/// Tests of the pool of buffers for the pieces of large pictures.
struct BufferPoolTests {
  @Test func `a piece is empty when it is reused, in the same memory`() {
    let pool = BufferPool(size: 4096)
    var piece = pool.take()
    piece.append(contentsOf: [1, 2, 3])
    let before = place(of: piece)
    pool.give(piece)
    piece = []

    let again = pool.take()

    #expect(again.isEmpty)
    #expect(again.capacity >= 4096)
    #expect(place(of: again) == before)
  }

  @Test func `a piece that is still being read is not overwritten`() {
    let pool = BufferPool(size: 4096)
    var reader = pool.take()
    reader.append(contentsOf: [1, 2, 3])
    pool.give(reader)

    var writer = pool.take()
    writer.append(contentsOf: [9, 9, 9])

    #expect(reader == [1, 2, 3])
  }

  @Test func `small blocks are not kept, and at most 64 large ones are`() {
    let pool = BufferPool(size: 4096)

    pool.give([1, 2, 3])
    #expect(pool.count == 0)

    let pieces = (0..<100).map { _ in pool.take() }
    for piece in pieces { pool.give(piece) }
    #expect(pool.count == 64)
  }

  /// The memory address of an array's elements.
  private func place(of piece: [UInt8]) -> UInt {
    piece.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
  }
}
