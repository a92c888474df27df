import Cache
import Testing

struct PictureTypeTests {
  @Test(arguments: [
    ([0xFF, 0xD8, 0xFF, 0xE0], PictureType.jpeg), ([0xFF, 0xD8, 0xFF, 0xDB, 0, 1], .jpeg),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], .png),
    (Array("GIF87a--".utf8), .gif), (Array("GIF89a--".utf8), .gif),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), .webp),
    (Array("\0\0\0 ftypavif".utf8), .avif), (Array("\0\0\0 ftypavis".utf8), .avif),
  ])
  func `a picture's type is known by its first bytes`(bytes: [UInt8], type: PictureType) {
    #expect(PictureType(sniffing: bytes) == type)
    #expect(PictureType(sniffing: bytes[...]) == type)
  }

  @Test(arguments: [
    "", "\u{0}", "<!DOCTYPE html>", "<html><body>", "{\"status\":404}", "GIF90a--", "RIFF....WAVE",
    "RIFF....WEB", "\0\0\0 ftypmp42", "\0\0\0 ftypavi", "<svg xmlns=", "BM------------",
    "\u{89}PNG\r\n\u{1A}\n", "%PDF-1.7 ....",
  ])
  func `other bytes are not a picture`(text: String) {
    #expect(PictureType(sniffing: Array(text.utf8)) == nil)
  }

  @Test func `a truncated signature is not a picture`() {
    let signatures: [[UInt8]] = [
      [0xFF, 0xD8], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A], Array("GIF89".utf8),
    ]

    for bytes in signatures { #expect(PictureType(sniffing: bytes) == nil) }
  }
}
