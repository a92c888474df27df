import Foundation
import Testing

@testable import Catalog
@testable import Web

/// Compares the report's JavaScript search with `list --search`; skipped without node.
@Suite(
  .enabled(if: Node.isThere, "node is not installed: the report's search was not run")
)
struct ReportSearchTests {
  private static let texts = [
    "간장   불고기", "불국사", "불 고기", "까치", "깍두기", "맛있어요 ㅋㅋ", "\u{1107}\u{116E}\u{11AF}", "Ｃｏｆｆｅｅ bean",
    "CAFE\u{301} au lait", "café", "Straße 7", "x A\u{3000}B", "青いｶﾞﾗｽ", "パン", "「ア」", "주스 １００％",
    "ΟΔΟΣ 1",
    "500g", "양배추", "a.b (c) [d] ^$ \\ e-f/g", "İstanbul", "ﾡﾢ", "tab\tfeed\u{A0}x",
  ]
  private static let queries = [
    "ㄱㅈ ㅂ", "ㅂㄱㄱ", "\u{1107}", "불고", "ㄱ", "ㄲ", "ㅋㅋ", "ㅏ", "ㄳ", "COFFEE", "ｃｏｆｆｅｅ", "café", "cafe",
    "STRASSE",
    "a  b", " b ", "", "  ", "ﾡ", "ﾢ", "ガラス", "ﾊﾟﾝ", "｢ｱ｣", "100%", "οδος", "500g양배추", "500g 양배추",
    "a.b", "a_b", "(c)",
    "[d]", "^$", "\\", "e-f/g", "i", "i\u{307}", "tab feed x", "main",
  ]

  @Test func `the page's search finds the same items as list, field by field`() throws {
    let items = Self.texts.enumerated().map { number, text in
      StoreItem(
        id: "main\(number)",
        title: text,
        description: Self.texts[(number + 1) % Self.texts.count],
        badges: [Self.texts[(number + 5) % Self.texts.count]]
      )
    }
    let fields = items.map { [$0.title, $0.description ?? ""] + $0.badges + [$0.id] }
    let start = try #require(PageAssets.reportScript.firstRange(of: "const point="))
    let end = try #require(PageAssets.reportScript.firstRange(of: "let shown=0;"))
    let program =
      PageAssets.reportScript[start.lowerBound..<end.lowerBound]
        + """

        const [fields,queries]=JSON.parse(process.argv[1]);
        texts=fields.map(some=>some.map(fold).join('\\n'));
        console.log(JSON.stringify(queries.map(query=>texts.map(text=>
          !fold(query)||pattern(fold(query)).test(text)))));
        """
    let asked = try JSONSerialization.data(
      withJSONObject: [fields, Self.queries.map { $0 }] as [Any]
    )
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: Node.path)
    process.arguments = ["-e", String(program), String(decoding: asked, as: UTF8.self)]
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()

    let found = try #require(try JSONSerialization.jsonObject(with: output) as? [[Bool]])
    for (query, answers) in zip(Self.queries, found) {
      let search = ItemQuery(search: SearchText(query))
      #expect(answers == items.map(search.admits), "\(query)")
    }
    #expect(found.count == Self.queries.count)
  }
}

/// The node program, which runs and checks scripts of pages.
enum Node {
  static let path = "/usr/bin/node"
  static let isThere = FileManager.default.isExecutableFile(atPath: path)
}
