import Testing

@testable import Catalog

/// How a proposal reads the words of many languages: names of fields, signs of currencies, scales, and words for none.
struct ProposalLanguageTests {
  /// Makes a list of four items from a template in which NUMBER is 1, 2, 3 or 4.
  private static func propose(_ item: String) throws -> ProposedFile {
    let items = (1...4).map { "{\(item.replacing("NUMBER", with: "\($0)"))}" }
    return try proposal(of: "[\(items.joined(separator: ","))]")
  }

  @Test func `no word has two values for one meaning`() {
    for table in [WordTable.names, .currencies] {
      for meaning in table.values.keys where meaning != "number" {
        let words = table.words(of: meaning)
        #expect(Set(words).count == words.count, "\(meaning)")
        #expect(!words.contains(""), "\(meaning)")
      }
    }
  }

  @Test(arguments: [
    "varenr varenavn pris bilde", "tuotekoodi tuotenimi hinta kuva", "artikelnr namn pris bild",
    "κωδικός τίτλος τιμή εικόνα", "מקט שם מחיר תמונה", "id الاسم السعر الصورة",
    "รหัสสินค้า ชื่อสินค้า ราคา รูปภาพ", "id नाम मूल्य छवि", "id নাম দাম ছবি",
    "id பெயர் விலை படம்", "код име цена снимка", "kód názov cena obrázok",
    "šifra naziv cena slika", "codi títol preu imatge", "kodea izena prezioa irudia",
    "kod nama harga gambar", "id pangalan presyo larawan", "id jina bei picha",
    "კოდი სახელი ფასი სურათი", "id անուն գին նկար", "id başlıq qiymət şəkil",
    "id атауы бағасы сурет", "kodi emri çmimi imazhi", "шифра наслов цена слика",
    "kods nosaukums cena attēls",
  ])
  func `the names of a shop's fields are known in many languages`(_ names: String) throws {
    let names = names.split(separator: " ").map(String.init)
    let path = names.map { YAMLText.scalar("$" + FieldPlace.segment($0)) }
    let text = try Self.propose(
      """
      "\(names[0])": "A-NUMBER7", "\(names[1])": "Melk lett NUMBER", "\(names[2])": 24.95,
      "\(names[3])": "https://c.example/NUMBER.jpg"
      """
    ).text

    let lines = linesWithoutComments(of: text)
    #expect(lines.contains("  id: \(path[0])"), "\(text)")
    #expect(lines.contains("  title: \(path[1])"), "\(text)")
    #expect(lines.contains("  salePrice: \(path[2])"), "\(text)")
    #expect(lines.contains("    thumbnail: \(path[3])"), "\(text)")
  }

  @Test(arguments: [
    ("৳1,2NUMBER0", "BDT"), ("Tk. 1,2NUMBER0", "BDT"), ("Rs. 9NUMBER", "INR"),
    ("रू ९NUMBER", "NPR"),
    ("₦ 9NUMBER0", "NGN"), ("GH₵ 9NUMBER.50", "GHS"), ("KSh 9NUMBER0/=", "KES"),
    ("R$ 9NUMBER,50", "BRL"), ("U$S 9NUMBER,50", "USD"),
    ("S/. 9NUMBER.50", "PEN"), ("Bs. 9NUMBER,50", "BOB"), ("9NUMBER0 ден.", "MKD"),
    ("9NUMBER ₾", "GEL"),
    ("9NUMBER0 тенге", "KZT"), ("9NUMBER 000 сўм", "UZS"), ("9NUMBER 000 so'm", "UZS"),
    ("9NUMBER ₼", "AZN"), ("9NUMBER ман.", "AZN"), ("9NUMBER ብር", "ETB"), ("9NUMBER FCFA", "XOF"),
  ])
  func `the currency is known by its sign or word`(_ price: String, _ currency: String) throws {
    let file = try Self.propose(#""id": NUMBER, "name": "Cup NUMBER", "price": "\#(price)""#)

    #expect(file.text.contains("\ncurrency: \(currency)   # "), "\(file.text)")
    #expect(file.text.contains("\n  salePrice: $.price"), "\(file.text)")
  }

  @Test(arguments: [("9NUMBER.000 تومان", "IRT"), ("9NUMBER,50 лв.", "BGN")])
  func `a currency that ISO 4217 does not have is named`(_ price: String, _ code: String) throws {
    let file = try Self.propose(#""id": NUMBER, "name": "Cup NUMBER", "price": "\#(price)""#)

    #expect(file.text.contains("prices are in \(code), which is no ISO 4217 currency"))
    #expect(file.unsure.contains("salePrice") && file.unsure.contains("currency"))
  }

  @Test func `a currency that only one of the prices names is unsure`() throws {
    let item = #""id": NUMBER, "name": "Cup NUMBER", "price": 35NUMBER.5, "price_eur": 2NUMBER.5"#

    #expect(try Self.propose(item).unsure.contains("currency"))
    #expect(
      try !Self.propose(item.replacing("price\"", with: "price_usd\"")).unsure.contains("currency")
    )
  }

  @Test(arguments: [
    (#""url": "https://shop.example.se/p/NUMBER""#, "price", "SEK"),
    (#""description": "It was € 40NUMBER last year.""#, "price", "EUR"),
    (#""sort": "x""#, "fiyat", "TRY"), (#""sort": "x""#, "harga", "IDR"),
    (#""deskripsi": "x""#, "price", "IDR"), (#""opis": "ładny""#, "pris", "PLN"),
    (#""description": "价格 ￥1NUMBER""#, "fare", "CNY"),
    // An address without a host names no country.
    (#""url": "https://:/b.se""#, "price", "USD"),
  ])
  func `a currency that nothing names is guessed, and unsure`(
    _ hint: String,
    _ price: String,
    _ currency: String
  ) throws {
    let file = try Self.propose(
      #""id": NUMBER, "name": "Cup NUMBER", "\#(price)": 35NUMBER.5, \#(hint)"#
    )

    #expect(file.text.contains("\ncurrency: \(currency)   # 0."), "\(file.text)")
    #expect(file.unsure.contains("currency"))
  }

  @Test func `the sign of a currency beside the items names it`() throws {
    let items = (1...3).map { #"{"id": \#($0), "name": "Cup \#($0)", "price": \#($0).5}"# }
    func currency(_ sign: String) throws -> ProposedFile {
      try proposal(of: #"{"currency": "\#(sign)", "items": [\#(items.joined(separator: ","))]}"#)
    }

    #expect(try currency("A$").text.contains("\ncurrency: AUD   # 0.8"))
    #expect(try currency("$").unsure.contains("currency"))
  }

  @Test(arguments: [
    "Preis auf Anfrage", "Liên hệ", "a consultar", "cena na zapytanie", "по запросу", "询价",
    "応相談", "문의", "Sold out", "نفدت الكمية",
  ])
  func `words for none, or for a price on request, are no price`(_ word: String) throws {
    let prices = (1...9).map { $0 == 3 ? word : "\($0)9,50 €" }.enumerated().map {
      #"{"id": \#($0), "name": "Cup \#($0)", "price": "\#($1)"}"#
    }
    let file = try proposal(of: "[\(prices.joined(separator: ","))]")

    #expect(
      file.text.contains("  salePrice: {path: $.price, none: \(YAMLText.quoted(word))}"),
      "\(file.text)"
    )
  }

  @Test(
    arguments: [
      ("1,2 tỷ", "VND", 1_200_000_000), ("850 triệu đồng", "VND", 850_000_000),
      ("₹1.5 lakh", "INR", 15_000_000), ("3.2 crore", "INR", 3_200_000_000),
      ("₹ 2 Cr.", "INR", 2_000_000_000), ("2,5 млн ₽", "RUB", 250_000_000),
      ("850 тыс. руб.", "RUB", 85_000_000), ("Rp 1,2 jt", "IDR", 120_000_000),
      ("$1.2M", "USD", 120_000_000), ("€850k", "EUR", 85_000_000), ("3억원", "KRW", 300_000_000),
      ("50 - 60 lakh", "INR", 500_000_000), ("฿2.5 ล้าน", "THB", 250_000_000),
    ])
  func `a word that counts thousands or millions is a part of the amount`(
    _ text: String,
    _ currency: String,
    _ units: Int
  ) throws {
    #expect(try Price(parsing: text, currency: currency).minorUnits == units)
    #expect(PriceText.number(text).map { $0 > 1000 } == true)
  }

  @Test(
    arguments: [
      ("1.250 млн", "RUB", "thousands or decimals"), ("₹50 - 60 lakh", "INR", "low end first"),
      ("5 m", "USD", "unknown unit"), ("1 tỷ 200 triệu", "VND", "not one amount"),
    ])
  func `an amount whose scale is in doubt is an error`(
    _ text: String,
    _ currency: String,
    _ reason: String
  ) {
    let error = #expect(throws: CatalogError.self) { try Price(parsing: text, currency: currency) }

    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }
}
