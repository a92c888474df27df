import Testing

@testable import Catalog

/// `ItemQuery`, which searches, filters, sorts and limits the items of a list.
@Suite struct ItemQueryTests {
  @Test(
    "A search finds other cases, widths and forms of its letters, and Korean initial consonants",
    arguments: [
      ("불고기", "간장 불고기"), ("ㅂㄱㄱ", "간장 불고기"), ("불ㄱㄱ", "불고기"), ("ㅂ고ㄱ", "불고기"),
      ("ㄱㅈ ㅂ", "간장   불고기"),
      ("ㅂㄱ", "\u{1107}\u{116E}\u{11AF}\u{1100}\u{1169}"),
      ("불고", "\u{1107}\u{116E}\u{11AF}\u{1100}\u{1169}"), ("ㄲ", "깍두기"), ("ㅋㅋ", "맛있어요 ㅋㅋ"),
      ("COFFEE", "Ｃｏｆｆｅｅ bean"), ("ｃｏｆｆｅｅ", "COFFEE"), ("café", "CAFE\u{301} au lait"),
      ("STRASSE", "Straße 7"), ("a  b", "x A\u{3000}B"), (" b ", "a b"), ("", "anything"),
      ("  ", ""),
      ("ﾡ", "가"), ("ガラス", "青いｶﾞﾗｽ"), ("ﾊﾟﾝ", "パン"), ("｢ｱ｣", "「ア」"), ("100%", "주스 １００％"),
      ("🍲", "국물 🍲"),
    ]
  )
  func found(_ search: String, _ text: String) {
    #expect(SearchText(search).isIn(text), "\(search) in \(text)")
  }

  @Test(
    "A search does not find similar words",
    arguments: [
      ("ㅂㄱㄱ", "불국사"), ("ㅂㄱㄱ", "불 고기"), ("ㄱ", "까치"), ("불고기", "불고"), ("ㅏ", "가"), ("a", ""),
      ("ㄳ", "가"), ("cafe", "café"), ("고", "공"),
    ]
  )
  func absent(_ search: String, _ text: String) {
    #expect(!SearchText(search).isIn(text), "\(search) in \(text)")
  }

  @Test("The fast folding of characters equals that of Unicode's tables")
  func plainFolding() throws {
    var plain: [Unicode.Scalar] = []
    for value in UInt32(0)...0xFFFF {
      guard let scalar = Unicode.Scalar(value),
        let folded = SearchText.foldedScalars("a\(Character(scalar))b")
      else { continue }
      plain.append(scalar)
      let expected = SearchText.folded("a\(Character(scalar))b")
      #expect(Self.characters(folded) == expected, "\(value)")
    }
    let shuffled = plain.indices.map { plain[$0 * 7919 % plain.count] }
    let text = String(String.UnicodeScalarView(shuffled))
    let folded = try #require(SearchText.foldedScalars(text))

    #expect(plain.count > 30_000)
    #expect(Self.characters(folded) == SearchText.folded(text))
  }

  private static func characters(_ scalars: [UInt32]) -> [Character] {
    scalars.compactMap { Unicode.Scalar($0).map(Character.init) }
  }

  @Test(
    "A text with characters that may combine gets no fast folding",
    arguments: ["\u{301}", "ß", "İ", "ﾞ", "🍲", "ا", "\u{11A8}", "\u{2028}", "ς"]
  )
  func notPlain(_ character: String) {
    #expect(SearchText.foldedScalars("a\(character)") == nil)
  }

  @Test(
    "The bounds of a price range are in the currency's major unit and inclusive",
    arguments: [
      ("5000..9000", 5000, "KRW", true), ("5000..9000", 9000, "KRW", true),
      ("5000..9000", 4999, "KRW", false), ("5000..9000", 9001, "KRW", false),
      ("..9000", 0, "KRW", true), ("5000..", 900_000_000, "KRW", true),
      ("9.99..10", 999, "USD", true), ("9.99..10", 998, "USD", false),
      ("9.999..", 999, "USD", false), ("..9.999", 999, "USD", true), ("10..10", 1000, "USD", true),
      ("1.5..", 1500, "KWD", true), ("1.501..", 1500, "KWD", false), ("..0", -1, "USD", true),
      ("0..", -1, "USD", false), ("9999999999999999..", Int.max, "KRW", true),
      ("..9999999999999999", Int.max, "KRW", false),
    ]
  )
  func prices(_ bounds: String, _ units: Int, _ currency: String, _ isWanted: Bool) throws {
    let bounds = try #require(PriceBounds(bounds))

    #expect(bounds.contains(Price(minorUnits: units, currency: currency)) == isWanted)
  }

  @Test(
    "An invalid price range is refused",
    arguments: [
      "", "..", "5000", "9000..5000", "a..b", "5,000..9,000", "-1..5", "5...9", "5..9..11",
      "1e3..",
      "..9.", ".5..", "0.1..0.09", "٥..٩", "5.. 9", "99999999999999999..", "inf..",
    ]
  )
  func noBounds(_ text: String) {
    #expect(PriceBounds(text) == nil)
  }

  private static func item(
    _ id: String,
    _ title: String = "t",
    sale: Int? = nil,
    normal: Int? = nil,
    badges: [String] = [],
    description: String? = nil
  ) -> StoreItem {
    StoreItem(
      id: id,
      title: title,
      description: description,
      badges: badges,
      normalPrice: normal.map { Price(minorUnits: $0, currency: "KRW") },
      salePrice: sale.map { Price(minorUnits: $0, currency: "KRW") }
    )
  }

  private static let items = [
    item("a", "banana", sale: 300, badges: ["이벤트특가"]), item("b", "Apple", normal: 100),
    item("c", "cherry"), item("d", "apple", sale: 300, normal: 900, description: "crisp"),
    item("e", "ÄPFEL", sale: 200, badges: ["New"]),
  ]

  @Test(
    "Items are sorted as requested; equal items and items without a price keep their order",
    arguments: [
      (nil, nil, "abcde"), (.price, nil, "beadc"), (.dearest, nil, "adebc"),
      (.title, nil, "bdace"),
      (.price, 2, "be"), (nil, 2, "ab"), (nil, 99, "abcde"),
    ] as [(ItemSort?, Int?, String)]
  )
  func order(_ order: ItemSort?, _ limit: Int?, _ ids: String) {
    let query = ItemQuery(order: order, limit: limit)

    #expect(query.arranged(Self.items) { $0 }.map(\.id).joined() == ids)
  }

  @Test(
    "An item is listed only if it fits all filters",
    arguments: [
      (ItemQuery(), "abcde"), (ItemQuery(search: SearchText("APPLE")), "bd"),
      (ItemQuery(search: SearchText("cris")), "d"), (ItemQuery(search: SearchText("ㅌㄱ")), "a"),
      (ItemQuery(badge: SearchText("new")), "e"), (ItemQuery(badge: SearchText("")), "abcde"),
      (ItemQuery(price: PriceBounds("100..200")), "be"),
      (ItemQuery(search: SearchText("apple"), price: PriceBounds("200..")), "d"),
    ]
  )
  func admission(_ query: ItemQuery, _ ids: String) {
    #expect(Self.items.filter(query.admits).map(\.id).joined() == ids)
  }

  @Test("Only without sorting does a limit shorten the reading")
  func readLimit() {
    #expect(ItemQuery(limit: 3).readLimit == 3)
    #expect(ItemQuery(order: .title, limit: 3).readLimit == nil)
    #expect(ItemQuery(order: .title).readLimit == nil)
  }
}
