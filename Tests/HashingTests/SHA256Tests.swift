import Base
import Hashing
import Testing

@Suite struct SHA256Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `a text has the digest of the standard`(_ text: String, _ digest: String) {
    #expect(Hexadecimal.text(SHA256.digest(of: Array(text.utf8))) == digest)
  }

  @Test func `pieces have the digest of the whole, and a digest may be taken in between`() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }

    for size in [1, 63, 64, 65, 999] {
      var hash = SHA256()
      for start in stride(from: 0, to: bytes.count, by: size) {
        let end = min(start + size, bytes.count)
        hash.add(bytes[start..<end].span.bytes)
        #expect(hash.digest == SHA256.digest(of: Array(bytes[..<end])))
      }
    }
  }

  /// The test cases of the standard. (RFC 4231, sections 4.2, 4.3 and 4.7)
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `a message has the authentication code of the standard, and no other`(
    _ key: [UInt8],
    _ message: String,
    _ expected: String
  ) {
    let bytes = Array(message.utf8)
    let code = SHA256.code(of: bytes, key: key)

    #expect(Hexadecimal.text(code) == expected)
    #expect(SHA256.isCode(code, of: bytes, key: key))
    #expect(!SHA256.isCode(code, of: bytes + [0], key: key))
    #expect(!SHA256.isCode(Array(code.dropLast()), of: bytes, key: key))
    #expect(!SHA256.isCode([code[0] ^ 1] + code.dropFirst(), of: bytes, key: key))
  }
}
