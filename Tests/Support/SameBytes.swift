import Glibc

/// Whether two bodies are equal; without optimisation `==` compares large ones byte by byte.
package func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  one.count == other.count && memcmp(one, other, one.count) == 0
}
