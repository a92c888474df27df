import Testing

@testable import Cache

struct BodyPoolTests {
  private func address(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
  }

  @Test func `an array that is given back is empty and the next that is taken`() {
    let pool = BodyPool()
    var bytes = pool.take(1000)
    bytes += [1, 2, 3]
    let place = address(bytes)

    pool.give(consume bytes)
    let next = pool.take(BodyPool.capacity)

    #expect(next.isEmpty)
    #expect(address(next) == place)
    #expect(next.capacity >= BodyPool.capacity)
  }

  @Test func `what somebody else still holds stays as it is`() {
    let pool = BodyPool()
    var bytes = pool.take(3)
    bytes += [1, 2, 3]
    let held = bytes

    pool.give(bytes)
    var next = pool.take(3)
    next += [7, 8, 9]

    #expect(held == [1, 2, 3])
    #expect(address(next) != address(held))
  }

  @Test(arguments: [0, BodyPool.capacity + 1, 1 << 20])
  func `what is smaller or larger than its arrays is not kept`(count: Int) {
    let pool = BodyPool()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    if count > 0 { bytes.append(1) }

    pool.give(bytes)
    let next = pool.take(1)

    #expect(next.isEmpty)
    #expect((BodyPool.capacity..<2 * BodyPool.capacity).contains(next.capacity))
  }

  @Test func `a body that is larger gets the room that it needs`() {
    #expect(BodyPool().take(1 << 20).capacity >= 1 << 20)
  }
}
