import Testing

@testable import Cache

/// The file names of pictures in a cache, which are derived from their URLs.
struct PictureNameTests {
  private func name(_ url: String) -> PictureName {
    PictureName(url: url, id: PictureID(url: url))
  }

  @Test func `a file name depends only on the URL`() {
    let name = name("https://cdn.example/a/1-kimchi.JPG?size=2")

    #expect(name == self.name("https://cdn.example/a/1-kimchi.JPG?size=2"))
    // The name contains the first 32 hexadecimal digits of the SHA-256 digest; the folder is the
    // first two.
    #expect(name.path == "images/3a/1-kimchi-3aed70d2c63a9145d5557fae01c15a8a.jpg")
  }

  @Test func `two URLs whose digests share 47 bits get different files`() {
    let shop = "http://127.0.0.1:9101/p/"
    let (one, other) = (shop + "0000f0aeca/main.png", shop + "00016e8f40/main.png")

    #expect(PictureName(older: one) == PictureName(older: other))
    #expect(name(one) != name(other))
  }

  @Test func `a path contains the whole key, and no other path is accepted`() {
    let url = "https://cdn.example/a/1-kimchi.JPG"
    let path = name(url).path

    #expect(PictureName.id(at: path) == PictureID(url: url))
    for other in [
      path.uppercased(), path.dropLast(5) + ".jpg", "images/00" + path.dropFirst(9),
      "images/3a/a-3aed70d2c63a.jpg", path + "/x", "/" + path, "", "images/3a/.jpg",
    ] { #expect(PictureName.id(at: String(other)) == nil, "\(other)") }
  }

  @Test(arguments: [
    "https://h/..", "https://h/../../../etc/passwd", "https://h/%2e%2e/%2e%2e",
    "https://h/a/.hidden",
    "https://h/..%2f..%2fx.png", "https://h/a\0b.jpg", "https://h/-rf", "https://h/a b\n\r\t.png",
    "https://h/메인 반찬.jpg", "https://h/e\u{301}\u{202E}gpj.exe", "https://h/", "https://h", "",
    "https://h/?only=query", "https://h/.jpg", "https://h/x.", "https://h/x..png", "/", "?", "#",
    "https://h/con.jpg", "https://h/a\\..\\b.png",
    "https://h/\(String(repeating: "x", count: 5000))",
    "https://h/\(String(repeating: "가", count: 300)).webp", "https://h/a.jpg/",
    "https://h/$(id).gif",
  ])
  func `a hostile URL gives a visible file in its own folder`(url: String) {
    let name = name(url)
    let parts = name.path.split(separator: "/", omittingEmptySubsequences: false)

    #expect(parts.count == 3)
    #expect(parts[0] == "images")
    #expect(parts[1].utf8.count == 2 && UInt8(parts[1], radix: 16) == name.folder)
    #expect(parts[2].utf8.count <= 80)
    #expect(parts[2].first != "." && parts[2].first != "-")
    #expect(
      name.file.utf8.allSatisfy {
        $0 < 0x80
          && (UnicodeScalar($0).properties.isAlphabetic || (0x30...0x39).contains($0)
            || [0x2D, 0x2E, 0x5F].contains($0))
      }
    )
    #expect(name.file.count { $0 == "." } == 1)
  }

  @Test(arguments: [
    ("https://h/a/kimchi.jpg", "kimchi", "jpg"), ("https://h/a/Soup_1.PNG", "Soup_1", "png"),
    ("https://h/a/b", "b", "img"), ("https://h/a/b.php?f=x.jpg", "b-php", "img"),
    ("https://h/a/?x=y.jpg", "picture", "img"), ("https://h/a.b.c.avif", "a-b-c", "avif"),
    ("https://h/%EA%B9%80.gif", "EA-B9-80", "gif"), ("https://h/a.jpg#b.png", "a", "jpg"),
  ])
  func `a file name keeps the stem and extension of the URL`(
    url: String,
    stem: String,
    suffix: String
  ) {
    let file = name(url).file

    #expect(file.hasPrefix("\(stem)-"))
    #expect(file.hasSuffix(".\(suffix)"))
    #expect(file.utf8.count == stem.utf8.count + 1 + 32 + 1 + suffix.utf8.count)
  }

  @Test func `equal file names in different folders get different names`() {
    let names = Set((0..<2000).map { name("https://h/\($0)/1.webp").path })

    #expect(names.count == 2000)
  }

  @Test func `pictures are spread over all folders`() {
    let folders = Set((0..<4000).map { name("https://h/\($0)").folder })

    #expect(folders.count == 256)
  }

  @Test(
    arguments: [
      ("x.jpg", .jpeg, "jpg"), ("x.jpeg", .jpeg, "jpeg"), ("x.JPEG", .jpeg, "jpeg"),
      ("x.gif", .png, "png"), ("x.jpg", .webp, "webp"), ("x", .avif, "avif"),
      ("x.png", nil, "png"),
      ("x", nil, "img"), ("x.png", .jpeg, "jpg"),
    ] as [(String, PictureType?, String)]
  )
  func `a converted picture gets the extension of its format`(
    _ url: String,
    _ type: PictureType?,
    _ ending: String
  ) {
    let name = name("https://h/\(url)")

    let stem = name.file[...(name.file.lastIndex(of: ".") ?? name.file.startIndex)]
    #expect(name.file(holding: type) == stem + ending)
  }
}
