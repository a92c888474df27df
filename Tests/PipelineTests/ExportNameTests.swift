import Cache
import Testing

@testable import Pipeline

/// The names of exported files, which come from URLs and must be safe on a web server.
@Suite struct ExportNameTests {
  @Test(
    arguments: [
      ("x.jpg", .jpeg, "x.jpg"), ("X.JPG", .jpeg, "X.JPG"), ("x.jpeg", .jpeg, "x.jpeg"),
      ("x.html", .gif, "x-html.gif"), ("x.php", .jpeg, "x-php.jpg"),
      ("x.php.jpg", .jpeg, "x-php.jpg"), ("x.php5.JPG", .jpeg, "x-php5.JPG"),
      ("x.PhAr.gif", .gif, "x-PhAr.gif"), ("x.svg", .png, "x-svg.png"),
      ("x.shtml.png", .png, "x-shtml.png"), ("index.html", .webp, "index-html.webp"),
      ("web.config", .gif, "web-config.gif"), ("%2Ehtaccess", .gif, "%2Ehtaccess.gif"),
      ("x.png", .gif, "x.png.gif"), ("x.jpg.webp", .webp, "x.jpg.webp"), ("x", .avif, "x.avif"),
      ("a.2021.01.jpg", .jpeg, "a.2021.01.jpg"), ("v1.5x.png", .png, "v1.5x.png"),
      ("x..php", .gif, "x.-php.gif"), ("x.", .gif, "x..gif"), ("사진.밥.png", .png, "사진.밥.png"),
      ("manifest.jsonl", .gif, "manifest-jsonl.gif"), ("catalog.json", .jpeg, "catalog-json.jpg"),
    ] as [(String, PictureType, String)]
  )
  func `a picture's name ends with the extension of its real type, and has no other one before it`(
    _ name: String,
    _ type: PictureType,
    _ fitting: String
  ) {
    #expect(ExportName.fitting(name, type) == fitting)
    #expect(ExportName.fitting(fitting, type) == fitting)
  }

  @Test(
    arguments: [
      (".htaccess", "%2Ehtaccess"), ("%2ehtaccess", "%2Ehtaccess"), ("..", "%2E%2E"),
      (".", "%2E"), ("...", "%2E.."),
      ("%2e%2e%2fetc", "%2e%2e%2fetc"),
      ("a%5Cb", "a%5Cb"), ("a\\b", "a%5Cb"), ("%00", "%00"), ("a%0Ab", "a%0Ab"),
      ("a%E2%80%AEb", "a%E2%80%AEb"), ("a%C2%9Bb", "a%C2%9Bb"), ("%20x", "%20x"), ("x%20", "x%20"),
      ("%EB%B0%A5", "밥"), ("a%20b", "a b"), ("%FF", "%FF"),
    ]
  )
  func `a path segment stays in its folder, is visible, and stays readable`(
    _ segment: String,
    _ name: String
  ) {
    #expect(ExportName.decoded(segment) == name)
  }

  @Test(
    arguments: [
      // Names that are kept.
      "x.jpg", "a b.jpg", "밥.png", "photo (1).jpg", "a%2Fb.jpg", "%2Ehtaccess.gif", "x..jpg",
      "COM.jpg",
      "console.png", "a-b.png", "com10.jpg", "nul-1.png", "Bücher #1.webp",
    ]
  )
  func `a name that every file system accepts is kept`(_ name: String) {
    #expect(ExportName.portable(name, hasEnding: true) == name)
  }

  @Test(
    arguments: [
      ("16:9.png", "16-9-*.png"), ("what?.png", "what-*.png"),
      ("a\"b<c>d|e*f.gif", "a-b-c-d-e-f-*.gif"),
      ("-rf.jpg", "_rf-*.jpg"), ("a;reboot.jpg", "a-reboot-*.jpg"), ("a&b.jpg", "a-b-*.jpg"),
      ("$(id).png", "_(id)-*.png"), ("`id`.png", "_id-*.png"), ("it's.png", "it-s-*.png"),
      ("a!b.png", "a-b-*.png"), ("a\u{7}b.png", "a-b-*.png"), ("a\u{7F}b.png", "a-b-*.png"),
      ("con.jpg", "_con-*.jpg"), ("PRN.png", "_PRN-*.png"), ("aux.a.jpg", "_aux.a-*.jpg"),
      ("nul", "_nul-*"), ("Com1.jpg", "_Com1-*.jpg"), ("lpt9.png", "_lpt9-*.png"),
      ("com¹.jpg", "_com¹-*.jpg"), ("LPT³.jpg", "_LPT³-*.jpg"), ("con .jpg", "_con -*.jpg"),
      ("conin$.png", "conin-*.png"),
    ]
  )
  func `a name that some file system or shell rejects is replaced`(
    _ name: String,
    _ shape: String
  ) throws {
    let portable = ExportName.portable(name, hasEnding: true)

    let parts = shape.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    #expect(portable.hasPrefix(parts[0]) && portable.hasSuffix(parts[1]), "\(portable)")
    #expect(portable.utf8.count == shape.utf8.count + 7, "\(portable)")
    #expect(portable.utf16.count <= 255 && portable.utf8.count <= name.utf8.count + 10)
    #expect(ExportName.portable(portable, hasEnding: true) == portable)
  }

  @Test(arguments: [
    ("a.", "a-"), ("a ", "a-"), ("a. .", "a. -"), ("v1:2.d", "v1-2.d-"), ("-x", "_x-"),
    ("aux", "_aux-"),
  ])
  func `a folder name that is changed ends with digits of a digest`(
    _ name: String,
    _ start: String
  ) {
    let portable = ExportName.portable(name, hasEnding: false)

    #expect(portable.hasPrefix(start) && portable != name)
    #expect(portable.last?.isHexDigit == true && !portable.hasSuffix(" "))
  }

  @Test(arguments: [false, true])
  func `pictures and the export's own files never share a name, on any file system`(
    _ isFlat: Bool
  ) {
    let names = [
      "x.jpg", "X.jpg", "x.JPG", "x.php", "x-php.jpg", "manifest.jsonl", "manifest.csv",
      "catalog.json", "export.json", "squares", "%C3%A9.jpg", "e%CC%81.jpg",
      "stra%C3%9Fe.jpg", "STRASSE.jpg", ".htaccess", "index.html", "", "x.jpg/y.jpg",
      String(repeating: "n", count: 300) + ".jpg", String(repeating: "%EB%B0%A5", count: 80),
      String(repeating: "d/", count: 3000) + "x.jpg", "con", "a%2F..%2F..%2Fb.jpg",
      "16:9.png", "16-9.png", "what%3F", "-rf.jpg", "a;b.jpg", "CON.jpg", "con/x.jpg", "d./x.jpg",
      "%EF%BC%9A.png", "lpt1", "a%20/x.jpg",
    ]
    var pictures: [ExportPlan.Picture] = []
    for host in ["http://a.test", "http://squares", "http://_larder", "http://A.test:80"] {
      for name in names {
        pictures.append(
          ExportPlan.Picture(
            url: "\(host)/\(name)",
            sha256: "\(pictures.count)",
            type: pictures.count % 2 == 0 ? .jpeg : .gif
          )
        )
      }
    }

    let plan = ExportPlan(pictures, isFlat: isFlat)

    let paths = pictures.compactMap { plan.paths[$0.url] }
    #expect(paths.count == pictures.count)
    #expect(Set(paths.map(ExportName.folded)).count == paths.count)
    let own = ["catalog.json", "export.json"]
    #expect(Set(paths.map(ExportName.folded)).isDisjoint(with: own))
    for (picture, path) in zip(pictures, paths) {
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.utf8.count <= 255 })
      #expect(!path.contains(/[<>:"\\|?*;&$`'!\x00-\x1F]/), "\(path)")
      for part in parts {
        #expect(!part.hasPrefix("-") && !part.hasSuffix(".") && !part.hasSuffix(" "), "\(path)")
        let stem = part.prefix { $0 != "." }.lowercased()
        #expect(!["con", "nul", "lpt1"].contains(stem), "\(path)")
      }
      #expect(path.utf8.count < 4096 - 1024 && parts[0] != "squares")
      #expect(path.lowercased().hasSuffix(picture.type == .jpeg ? ".jpg" : ".gif"))
      let folders = Set(paths.flatMap(ExportPath.parents).map(ExportName.folded))
      #expect(!folders.contains(ExportName.folded(path)))
    }
  }
}
