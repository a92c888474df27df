/// A seeded random generator: equal seeds give equal numbers on every machine.
///
/// SplitMix64, by Sebastiano Vigna, in the public domain.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator with this seed.
  package init(_ seed: UInt64) {
    state = seed
  }

  /// A generator with a seed for each name, so that the order of use does not matter.
  package init(_ seed: UInt64, _ name: String) {
    // FNV-1a.
    state = name.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    _ = next()
  }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Random bytes, each masked with `mask`.
  package mutating func bytes(_ count: Int, mask: UInt8 = 0xFF) -> [UInt8] {
    let mask = UInt64(mask) &* 0x0101_0101_0101_0101
    var words: [UInt64] = []
    words.reserveCapacity(count / 8 + 1)
    for _ in 0..<(count + 7) / 8 { words.append(next() & mask) }
    return words.withUnsafeBytes { words in
      [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
        UnsafeMutableRawBufferPointer(bytes)
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: words[..<count]))
        initialized = count
      }
    }
  }

  /// Whether an event of this probability happens.
  package mutating func happens(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &self) < probability
  }

  /// A random choice, weighted by the numbers.
  package mutating func pick<Value>(_ choices: [(Value, weight: Int)]) -> Value {
    var place = Int.random(in: 0..<choices.reduce(0) { $0 + $1.weight }, using: &self)
    for choice in choices.dropLast() {
      place -= choice.weight
      if place < 0 { return choice.0 }
    }
    return choices[choices.count - 1].0
  }
}
