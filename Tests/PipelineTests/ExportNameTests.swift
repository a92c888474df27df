import Cache
import Testing

@testable import Pipeline

/// Names that origins give, and what becomes of them in a folder that a web server serves.
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
  func `a picture's name ends as its bytes are, and nothing before it is an ending`(
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
  func `a segment stays in its folder, is seen, and reads as it stands`(
    _ segment: String,
    _ name: String
  ) {
    #expect(ExportName.decoded(segment) == name)
  }

  @Test(arguments: [ExportPlan.Shape.tree, .flat])
  func `no two pictures and no file of the export's own share a name on any file system`(
    _ shape: ExportPlan.Shape
  ) {
    let names = [
      "x.jpg", "X.jpg", "x.JPG", "x.php", "x-php.jpg", "manifest.jsonl", "manifest.csv",
      "catalog.json", "items.geojson", "export.json", "squares", "%C3%A9.jpg", "e%CC%81.jpg",
      "stra%C3%9Fe.jpg", "STRASSE.jpg", ".htaccess", "index.html", "", "x.jpg/y.jpg",
      String(repeating: "n", count: 300) + ".jpg", String(repeating: "%EB%B0%A5", count: 80),
      String(repeating: "d/", count: 3000) + "x.jpg", "con", "a%2F..%2F..%2Fb.jpg",
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

    let plan = ExportPlan(pictures, shape: shape)

    let paths = pictures.compactMap { plan.paths[$0.url] }
    #expect(paths.count == pictures.count)
    #expect(Set(paths.map(ExportName.folded)).count == paths.count)
    let own = ["manifest.jsonl", "manifest.csv", "catalog.json", "items.geojson", "export.json"]
    #expect(Set(paths.map(ExportName.folded)).isDisjoint(with: own))
    for (picture, path) in zip(pictures, paths) {
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.utf8.count <= 255 })
      #expect(path.utf8.count < 4096 - 1024 && parts[0] != "squares")
      #expect(path.lowercased().hasSuffix(picture.type == .jpeg ? ".jpg" : ".gif"))
      let folders = Set(paths.flatMap(ExportPath.parents).map(ExportName.folded))
      #expect(!folders.contains(ExportName.folded(path)))
    }
  }
}
