import Glibc

/// Whether two bodies are the same; `==` compares large ones byte by byte where it is not optimised.
package func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  one.count == other.count && memcmp(one, other, one.count) == 0
}
