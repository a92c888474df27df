import Base
import Catalog
import Foundation
import Orders
import Pipeline
import Support
import Testing

@testable import Web

/// Templates, styles and scripts of the pages as what they are.
@Suite struct PageFileTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/Web/Templates").standardized

  private static func files(_ ending: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".\(ending)")
    }
  }

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  @Test func `each template in the folder is one of the program`() throws {
    let names = try Self.files("mustache").map { String($0.dropLast(9)) }

    #expect(names.sorted() == PageTemplates.files.keys.sorted())
    for (name, bytes) in PageTemplates.files {
      #expect(try Self.text("\(name).mustache") == String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test(arguments: PageLanguage.allCases)
  func `each template is whole in each language`(_ language: PageLanguage) throws {
    _ = try PageTemplates(language)
    for (name, file) in PageTemplates.files {
      let text = PageTemplates.text(file, language)
      #expect(!text.contains("[[") && !text.contains("]]") && !text.contains("\\"), "\(name)")
    }
    #expect(PageTemplates.text(Array("a\\\n[[b|c]]d".utf8), .korean) == "acd")
    #expect(PageTemplates.text(Array("a\\\n[[b|c]]d".utf8), .english) == "abd")
  }

  @Test func `each name in a template is a member of the view that it shows`() throws {
    var shown = ReportFixture.item("1")
    shown.priceLine = PriceLine([
      PriceLine.Step(time: 1_690_000_000, price: Price(minorUnits: 700, currency: "USD")),
      PriceLine.Step(time: 1_695_000_000, price: Price(minorUnits: 500, currency: "USD")),
    ])
    let words = ItemView.Words(.english)
    var item = ItemView(shown, number: 1, picture: "a", words)
    item.line = PriceLineView(shown, PageClock(now: 1_700_000_000), .english)
    let card = StorefrontCard(shown, words, StorefrontSquares([256]), isEager: true)
    var names = TemplateNames(
      PageTemplates.files.mapValues { PageTemplates.text($0, .english) },
      named: [
        ObjectIdentifier(ItemView.self): item.child,
        ObjectIdentifier(StorefrontCard.self): card.child,
        ObjectIdentifier(ProblemView.Cause.self): ProblemView.Cause.gone.child,
        ObjectIdentifier(ItemSort.self): ItemSort.price.child,
        ObjectIdentifier(OrderState.self): OrderState.ready.child,
        ObjectIdentifier(Delivery.State.self): Delivery.State.dead.child,
        ObjectIdentifier(OrderFault.self): OrderFault.name.child,
        ObjectIdentifier(BasketBill.Trouble.self): BasketBill.Trouble.soldOut.child,
      ]
    )
    let views: [any PageView.Type] = [
      ReportView.self, ItemView.self, StorefrontPage.Frame.self, StorefrontHome.self,
      StorefrontList.self, StorefrontItemPage.self, StorefrontBasketPage.self,
      StorefrontOrdersPage.self, StorefrontOrderPage.self, Storefront.Notice.self,
    ]
    for view in views { names.compare(view.template, showing: view) }

    #expect(names.faults == [])
    #expect(names.read == Set(PageTemplates.files.keys))
  }

  @Test func `a name without a member is found`() {
    struct Row { let text: String? }
    struct Page { let text: String; let rows: [Row] }
    var names = TemplateNames([
      "page": "{{#rows}}{{text}}{{/rows}}{{#empty(text)}}{{tex}}{{/empty(text)}}{{> part}}"
    ])

    names.compare("page", showing: Page.self)

    #expect(
      names.faults == [
        "page: text may be nil, and is a member of \(Page.self) too",
        "page: tex is no member of \([Page.self as Any.Type])", "there is no template part",
      ]
    )
  }

  /// Values that templates put into `class`.
  private static let tones =
    ["good", "warn", "bad", "no", "done", "now"]
    + OrderState.allCases.map(\.rawValue)

  /// The words of some files in which a class or an id may stand.
  private static func words(_ names: [String]) throws -> Set<String> {
    Set(
      try names.flatMap { name in
        try text(name).replacing(/\{\{[^}]*\}\}/, with: " ").matches(of: /[A-Za-z][\w-]*/).map {
          String($0.output)
        }
      }
    )
  }

  @Test(arguments: ["report", "storefront"])
  func `a style sheet has whole rules, known colours, and no class that its pages have not`(
    _ page: String
  ) throws {
    let tokens = StyleSheet(try Self.text("tokens.css"))
    let sheet = StyleSheet(try Self.text("\(page).css"))
    let files = try (Self.files("mustache") + Self.files("js")).filter { $0.hasPrefix(page) }
    let words = try Self.words(files + ["layout.mustache", "price-line.mustache"])

    #expect(sheet.faults + tokens.faults == [])
    #expect(sheet.used.subtracting(tokens.defined) == [])
    #expect(sheet.classes.union(sheet.ids).subtracting(words.union(Self.tones)).sorted() == [])
  }

  @Test func `the common sheet has no class that no page has, and its colours are the only ones`()
    throws
  {
    let (tokens, base) = (
      StyleSheet(try Self.text("tokens.css")), StyleSheet(try Self.text("base.css"))
    )
    let pages = try ["report", "storefront"].map {
      StyleSheet(try Self.text("\($0).css"))
    }
    let words = try Self.words(Self.files("mustache") + Self.files("js"))

    #expect(base.faults == [])
    #expect(base.classes.subtracting(words.union(Self.tones)).sorted() == [])
    #expect(base.used.subtracting(tokens.defined) == [])
    #expect(pages.reduce(base.used) { $0.union($1.used) } == tokens.defined)
    for page in pages { #expect(page.defined.subtracting(["--round"]) == []) }
  }

  @Test func `no rule stands in two sheets`() throws {
    let sheets = try ["base", "report", "storefront"].map {
      Set(StyleSheet(try Self.text("\($0).css")).rules)
    }

    for (place, sheet) in sheets.enumerated() {
      for other in sheets[..<place] { #expect(sheet.intersection(other) == []) }
    }
  }

  @Test(arguments: [
    ("a{b:c", "no brace at the end of: a"), ("a{b:c}}", "a brace too many before: }"),
    ("a{b}", "no declaration: b of a"), ("a;b{c:d}", "no rule: a"),
    ("@media print{a{}}", "a rule without declarations: a"),
  ])
  func `a sheet that is not whole is found`(_ text: String, _ fault: String) {
    #expect(StyleSheet(text).faults == [fault])
  }

  @Test(.enabled(if: Node.isThere, "node is not installed: no script was parsed"))
  func `each script can be parsed`() throws {
    for name in try Self.files("js") {
      let process = Process()
      process.executableURL = URL(filePath: Node.path)
      process.arguments = ["--check", Self.folder.appending(path: name).path]
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(name)")
    }
  }
}
