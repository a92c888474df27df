import CIPSecMB
import Crypto

/// The SHA-256 of several bodies at once.
///
/// A processor's SHA instructions wait for one another within a message; those of a second message fit in between, which
/// takes a third off the time. One body alone, or a machine without the library, goes through swift-crypto.
struct BatchDigester: ~Copyable {
  // SAFETY: made and freed here, once each; `~Copyable` keeps it with one owner, which its methods borrow in turn.
  private let raw: OpaquePointer?

  /// How many bodies are taken at once at most.
  static let width = 16
  /// How many bytes of them are enough: they are written next, and should be in the processor's cache still.
  static let enoughBytes = 512 << 10

  init() {
    raw = larder_digester_make()
  }

  deinit {
    larder_digester_free(raw)
  }

  /// The digests of `bodies`, 32 bytes each, in their order.
  mutating func sha256(_ bodies: [[UInt8]]) -> [[UInt8]] {
    guard let raw, bodies.count > 1 else { return bodies.map(ContentDigest.sha256) }
    var pointers: [UnsafePointer<UInt8>?] = []
    var digests = [UInt8](repeating: 0, count: 32 * bodies.count)
    let isDone = Self.withPointers(bodies[...], &pointers) { pointers in
      larder_digester_run(raw, pointers, bodies.map(\.count), bodies.count, &digests) != 0
    }
    guard isDone else { return bodies.map(ContentDigest.sha256) }
    return stride(from: 0, to: digests.count, by: 32).map { Array(digests[$0..<$0 + 32]) }
  }

  /// Calls `body` while the addresses of all `bodies` hold.
  private static func withPointers(
    _ bodies: ArraySlice<[UInt8]>,
    _ pointers: inout [UnsafePointer<UInt8>?],
    _ body: ([UnsafePointer<UInt8>?]) -> Bool
  ) -> Bool {
    guard let first = bodies.first else { return body(pointers) }
    return first.withUnsafeBufferPointer { bytes in
      pointers.append(bytes.baseAddress)
      return withPointers(bodies.dropFirst(), &pointers, body)
    }
  }
}
