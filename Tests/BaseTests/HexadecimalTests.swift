import Base
import Testing

struct HexadecimalTests {
  @Test func `bytes become two digits each, and both cases are read`() {
    let all = (0...255).map { UInt8($0) }

    #expect(Hexadecimal.text([0, 10, 255]) == "000aff")
    #expect(Hexadecimal.bytes(Hexadecimal.text(all)) == all)
    #expect(Hexadecimal.bytes("00AfFa") == [0, 0xAF, 0xFA])
    #expect(Hexadecimal.bytes("") == [])
  }

  @Test(arguments: ["0", "000", "0g", "+f", "-1", " 1", "0x", "é"])
  func `text that is not pairs of hexadecimal digits is refused`(_ text: String) {
    #expect(Hexadecimal.bytes(text) == nil)
  }
}
