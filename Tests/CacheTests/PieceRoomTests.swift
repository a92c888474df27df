import Testing

@testable import Cache

/// The pool of memory blocks for pieces of large bodies.
struct PieceRoomTests {
  @Test func `a piece is empty when it is reused, in the same memory`() {
    let room = PieceRoom(size: 4096)
    var piece = room.take()
    piece.append(contentsOf: [1, 2, 3])
    let before = place(of: piece)
    room.give(piece)
    piece = []

    let again = room.take()

    #expect(again.isEmpty)
    #expect(again.capacity >= 4096)
    #expect(place(of: again) == before)
  }

  @Test func `a piece that is still being read is not overwritten`() {
    let room = PieceRoom(size: 4096)
    var reader = room.take()
    reader.append(contentsOf: [1, 2, 3])
    room.give(reader)

    var writer = room.take()
    writer.append(contentsOf: [9, 9, 9])

    #expect(reader == [1, 2, 3])
  }

  @Test func `small blocks are not kept, and at most 64 large ones are`() {
    let room = PieceRoom(size: 4096)

    room.give([1, 2, 3])
    #expect(room.count == 0)

    let pieces = (0..<100).map { _ in room.take() }
    for piece in pieces { room.give(piece) }
    #expect(room.count == 64)
  }

  /// The memory address of an array's elements.
  private func place(of piece: [UInt8]) -> UInt {
    piece.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
  }
}
