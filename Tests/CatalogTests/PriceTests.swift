import Testing

@testable import Catalog

/// Reading prices as exact amounts, and showing them as text.
struct PriceTests {
  @Test(
    arguments: [
      ("7,000원", "KRW", 7000), ("39,000", "KRW", 39000), (" 5,200 원 ", "KRW", 5200),
      ("₩12,640", "KRW", 12640), ("KRW 900", "KRW", 900), ("７，０００원", "KRW", 7000),
      ("7000.00", "KRW", 7000), ("12.000", "KRW", 12000), ("9.99", "USD", 999),
      ("$1,299.50", "USD", 129_950), ("$9.99 USD", "USD", 999), ("US$5", "USD", 500),
      ("1.299,50 €", "EUR", 129_950), ("10,99", "EUR", 1099), ("1.299 €", "EUR", 129_900),
      ("1 299,50 €", "EUR", 129_950), ("1’299.50", "CHF", 129_950), ("12,- €", "EUR", 1200),
      ("Fr. 12.50", "CHF", 1250), ("0.500", "USD", 50), ("0,500", "USD", 50),
      ("1,23,456.00", "INR", 12_345_600),
      ("1.250", "KWD", 1250), ("1,250", "KWD", 1_250_000), ("0", "KRW", 0),
      ("19.990", "USD", 1999), ("1.000", "USD", 100), ("9.9900", "USD", 999),
      ("$1299.500", "USD", 129_950), ("19,990", "USD", 1_999_000), ("12.990", "KRW", 12_990),
      ("12.990", "CLP", 12_990), ("$ 12.990", "CLP", 12_990), ("12,990", "CLP", 12_990),
      ("25.000", "IDR", 2_500_000), ("19,990", "SEK", 1_999_000), ("Rp 25.000", "IDR", 2_500_000),
      ("1.299", "EUR", 129_900),
      ("19.990 €", "EUR", 1_999_000), ("€1,299", "EUR", 129_900), ("19.990000", "EUR", 1999),
      ("₦1,299.00", "NGN", 129_900), ("NGN 1,299", "NGN", 129_900), ("99:-", "SEK", 9900),
      ("1 299:-", "SEK", 129_900), ("99:- kr", "SEK", 9900), ("kr 1.299,50", "DKK", 129_950),
      ("249 kr.", "DKK", 24_900), ("5.–", "CHF", 500), ("12,--", "CHF", 1200),
      ("GH₵ 12.50", "GHS", 1250), ("R 1 299,00", "ZAR", 129_900), ("45,00 zł.", "PLN", 4500),
      ("￥1,980（税込）", "JPY", 1980), ("税込1,980円", "JPY", 1980),
      ("10.5万円", "JPY", 105_000), ("1.299万円", "JPY", 12_990), ("3만원", "KRW", 30_000),
      ("1,200万円", "JPY", 12_000_000), ("Sale price$697.99", "USD", 69_799),
      ("12.50 EUR (incl. VAT)", "EUR", 1250), ("12,50 € TTC", "EUR", 1250),
      ("Rs 1,299/-", "INR", 129_900), ("N1,299.00", "NGN", 129_900), ("KD 1.250", "KWD", 1250),
      ("1,299 บาท", "THB", 129_900), ("12.90 ש״ח", "ILS", 1290),
      ("\u{200F}١٬٢٩٩٫٥٠ ر.س\u{200F}", "SAR", 129_950), ("۱۲٬۵۰۰", "IRR", 1_250_000),
      ("1.299.500", "EUR", 129_950_000), ("19.9", "USD", 1990), ("¥1,200", "JPY", 1200),
      ("৳১,২৯৯", "BDT", 129_900), ("5 USD.", "USD", 500), ("Rs.99", "INR", 9900),
      ("15  000 Fcfa", "XOF", 15_000), ("136000 RUR", "RUB", 13_600_000),
    ] as [(String, String, Int)]
  )
  func `a written price is read exactly`(text: String, currency: String, units: Int) throws {
    let price = try Price(parsing: text, currency: currency)

    #expect(price == Price(minorUnits: units, currency: currency))
  }

  @Test(
    arguments: [
      ("", "KRW", "holds no amount"), ("품절", "KRW", "holds no amount"),
      ("$5", "KRW", "is in USD, and the catalog in KRW"), ("7,5", "KRW", "more decimals"),
      ("9.999,1", "KRW", "more decimals"), ("9.9999", "USD", "more decimals"),
      ("19.999", "USD", "may mean thousands or decimals"),
      ("$1.299", "USD", "may mean thousands or decimals"),
      ("19.990", "EUR", "may mean thousands or decimals"),
      ("19.990", "SEK", "may mean thousands or decimals"),
      ("-1", "KRW", "is negative"), ("-₦5", "NGN", "is negative"), ("99-", "SEK", "is negative"),
      ("₦5", "USD", "is in NGN"), ("9,99 $", "EUR", "is in USD"),
      ("-5", "USD", "is negative"), ("7~5", "USD", "not one amount"),
      ("2024-01-02", "USD", "not one amount"), ("5 - 7 €", "USD", "is in EUR"),
      ("5 - 7 %", "USD", "unknown unit"), ("-5 - 7", "USD", "is negative"),
      ("12, 15", "EUR", "unknown digit grouping"), ("12  15", "EUR", "unknown digit grouping"),
      ("1,980円（税抜1,800円）", "JPY", "not one amount"), ("1万5000円", "JPY", "not one amount"),
      ("1,800円（税抜）", "JPY", "unknown unit"), ("12,50 €/kg", "EUR", "unknown unit"),
      ("from 5", "USD", "unknown unit \"from\""), ("1,2345,678", "KRW", "unknown digit grouping"),
      ("99999999999999999999", "KRW", "too large"), ("92233720368547758.08", "USD", "too large"),
      ("999999999999999", "CLF", "too large"),
      ("$.99", "USD", "unknown unit \"$.\""), ("USD .75", "USD", "unknown unit \"usd.\""),
      ("2,500원 (40,000원 이상 무료)", "KRW", "not one amount"),
    ])
  func `an unreadable price is an error with the reason`(
    text: String,
    currency: String,
    reason: String
  ) {
    #expect {
      try Price(parsing: text, currency: currency)
    } throws: {
      ($0 as? CatalogError)?.reason.contains(reason) == true
    }
  }

  @Test(
    arguments: [
      (9.99, "USD", 999), (0.07, "USD", 7), (1.005, "KWD", 1005), (7000.0, "KRW", 7000),
      (1299.5, "USD", 129_950), (16.990000000000002, "USD", 1699), (1e3, "USD", 100_000),
      (0.1 + 0.2, "USD", 30), (1e-20, "USD", nil), (1e17, "KRW", 100_000_000_000_000_000),
      (9.999, "USD", nil), (-1, "USD", nil), (.infinity, "USD", nil), (1e300, "USD", nil),
      (999.9999999999999, "USD", 100_000), (4.35, "USD", 435), (1.15, "USD", 115),
    ] as [(Double, String, Int?)]
  )
  func `a number is read by its decimal digits, never by its binary value`(
    number: Double,
    currency: String,
    units: Int?
  ) {
    #expect((try? Price(number, currency: currency))?.minorUnits == units)
  }

  @Test(arguments: [
    ("5~7", "USD", 500), ("10.00 - 12.50 EUR", "EUR", 1000), ("$5 – $7.50", "USD", 500),
    ("1.290 - 1.490 €", "EUR", 129_000), ("7,000원~9,000원", "KRW", 7000), ("5-5", "USD", 500),
    ("7,000～9,000원", "KRW", 7000),
  ])
  func `the lower end of a price range is read`(text: String, currency: String, units: Int) throws
  {
    #expect(try Price(parsing: text, currency: currency).minorUnits == units)
  }

  @Test(
    arguments: [
      (10_000, 8400, -16), (8000, 8250, 3), (200, 199, -1), (200, 201, 1), (700, 700, 0),
      (700, 0, -100), (0, 700, nil), (-5, 700, nil), (1, 10_000, 999_900), (1, 10_001, nil),
      (1, .max, nil), (.max, .min, -200),
    ] as [(Int, Int, Int?)]
  )
  func `a change is a whole percentage of the first price, whatever the amounts`(
    from: Int,
    to: Int,
    percent: Int?
  ) {
    let price = Price(minorUnits: from, currency: "USD")

    #expect(price.percent(to: Price(minorUnits: to, currency: "USD")) == percent)
    #expect(price.percent(to: Price(minorUnits: to, currency: "EUR")) == nil)
  }

  @Test func `whole numbers are major units unless a scale is given`() throws {
    #expect(try Price(7000, currency: "KRW").minorUnits == 7000)
    #expect(try Price(7, currency: "USD").minorUnits == 700)
    #expect(try Price(1299, scale: 2, currency: "USD").minorUnits == 1299)
    #expect(try Price(5, scale: 2, currency: "USD").minorUnits == 5)
    #expect(try Price(5, scale: 0, currency: "USD").minorUnits == 500)
    #expect(throws: CatalogError.self) { try Price(.max, currency: "USD") }
    #expect(throws: CatalogError.self) { try Price(1299, scale: 2, currency: "KRW") }
  }

  @Test(
    arguments: [
      (7000, "KRW", "7,000원"), (0, "KRW", "0원"), (999, "USD", "$9.99"), (5, "USD", "$0.05"),
      (129_950, "EUR", "€1,299.50"), (129_950, "CHF", "1,299.50 CHF"), (-999, "USD", "-$9.99"),
      (1_234_567, "KRW", "1,234,567원"),
      (1250, "KWD", "1.250 KWD"), (1200, "JPY", "¥1,200"), (100, "GBP", "£1.00"),
      (Int.min, "KRW", "-9,223,372,036,854,775,808원"),
    ])
  func `a formatted price has its currency unit once`(units: Int, currency: String, text: String) {
    #expect(Price(minorUnits: units, currency: currency).formatted() == text)
  }

  @Test(arguments: ["KRW", "EUR", "USD", "KWD", "ISK", "ARS"])
  func `a price before its currency code reads the same with any white space between`(
    _ currency: String
  ) throws {
    func units(_ text: String) -> Int? {
      (try? Price(parsing: text, currency: currency))?.minorUnits
    }
    let amounts = [
      "7", "7000", "7,000", "7.000", "1,299.50", "1.299,50", "12,50", "0.99", "1,29", "1.2345", "",
      "999999999999999", ",5",
    ]
    for amount in amounts {
      for unit in [currency, "XXX", "EUR", "원"] {
        #expect(
          units("\(amount) \(unit)") == units(" \(amount)\u{A0}\(unit)"),
          "\(amount) \(unit)"
        )
      }
    }
  }

  @Test(arguments: [("KRW", 7000), ("USD", 129_950), ("EUR", 99), ("KWD", 1_234_567)])
  func `a formatted price can be read back`(currency: String, units: Int) throws {
    let price = Price(minorUnits: units, currency: currency)

    #expect(try Price(parsing: price.formatted(), currency: currency) == price)
  }
}
