/// Facts about the currencies of ISO 4217, and about the ways in which shops write prices in them.
enum Currency {
  /// The codes of all currencies, without those of funds and metals. (ISO 4217, list one)
  static let codes: [String] = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD \
    CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL \
    GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF \
    KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN \
    MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD \
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH \
    UGX USD UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split(separator: " ").map(String.init)

  /// The numeric codes of currencies that shops name so. (ISO 4217, list one)
  private static let numbers = Dictionary(
    uniqueKeysWithValues: """
      036AUD 051AMD 124CAD 152CLP 156CNY 203CZK 208DKK 344HKD 348HUF 356INR 360IDR 376ILS 392JPY \
      398KZT 410KRW 458MYR 484MXN 498MDL 554NZD 578NOK 608PHP 634QAR 643RUB 682SAR 702SGD 704VND \
      710ZAR 752SEK 756CHF 764THB 784AED 818EGP 826GBP 840USD 860UZS 901TWD 933BYN 941RSD 944AZN \
      946RON 949TRY 978EUR 980UAH 981GEL 985PLN 986BRL
      """.split(separator: " ").map { (String($0.prefix(3)), String($0.suffix(3))) }
  )

  /// The number of decimals of a currency, for example 2 for "USD". (ISO 4217, list one, column "Minor unit")
  static func exponent(of code: String) -> Int {
    switch code {
    case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI",
      "VND", "VUV", "XAF", "XOF", "XPF":
      0
    case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
    case "CLF", "UYW": 4
    default: 2
    }
  }

  /// The meaning of a point before three digits, as in "25.000", in prices of a currency that has two decimals. (CLDR
  /// 46, the locales of the currency)
  ///
  /// If points group thousands, prices in the currency have no decimals in practice.
  static func point(in code: String) -> WrittenPrice.Point {
    switch code {
    case "AOA", "ARS", "COP", "CRC", "CZK", "HUF", "IDR", "RSD", "UYU", "UZS", "VED", "VES":
      .groups
    case "ALL", "AZN", "BAM", "BOB", "BRL", "BYN", "CVE", "DKK", "DZD", "EUR", "GEL", "MAD", "MDL",
      "MKD", "MZN", "NOK", "PLN", "RON", "RUB", "SEK", "TRY", "UAH":
      .open
    default: .decimals
    }
  }

  /// The ISO 4217 code that a code in any case or a numeric one such as "840" stands for, or nil if it is none.
  ///
  /// "RUR" stands for "RUB": ISO 4217 withdrew it, but many feeds still have it.
  static func code(of text: String) -> String? {
    let code = text.uppercased()
    return codes.contains(code) ? code : code == "RUR" ? "RUB" : numbers[code]
  }

  /// The codes of the currencies that a written unit can mean, for example "USD" and "CAD" for "$".
  ///
  /// The result is empty for an unknown unit. A point at the end of the unit, as in "kr.", does not count.
  static func codes(writtenAs unit: String) -> [String] {
    let unit = unit.hasSuffix(".") ? String(unit.dropLast()) : unit
    if let codes = codesByUnit[unit] { return codes }
    return codes.contains(unit.uppercased()) ? [unit.uppercased()] : []
  }

  /// Whether a unit that ends in a point is an abbreviation, as in "Rs.99".
  ///
  /// In "$.99" and "USD .99", the point before the amount separates decimals.
  static func isAbbreviation(_ unit: String) -> Bool {
    abbreviations.contains(unit.dropLast())
  }

  /// Units in lower case that can have a point before an amount.
  private static let abbreviations = """
    rs руб р тг ksh tsh ush s/ bs din дин ден грн ر.س l.e tl د.ك zł kč ft lei rp kr fr sfr
    """.split(separator: " ")

  /// The codes that each written unit can mean, the most usual one first.
  private static let codesByUnit: [String: [String]] = {
    var codes: [String: [String]] = [:]
    for entry in units.split(separator: ", ") {
      let words = entry.split(separator: " ").map(String.init)
      let ownCodes = words.filter { $0.allSatisfy { ("A"..."Z").contains($0) } }
      for unit in words where !ownCodes.contains(unit) { codes[unit] = ownCodes }
    }
    return codes
  }()

  /// Units in lower case, each group followed by the codes that they can mean.
  private static let units = """
    $ ＄ USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP BBD BMD BND BSD BZD DOP FJD GYD JMD KYD LRD NAD SBD SRD TTD UYU XCD, \
    us$ 달러 USD, a$ au$ AUD, c$ ca$ CAD, nz$ NZD, s$ SGD, hk$ HKD, nt$ TWD, mx$ MXN, r$ BRL, € 유로 EUR, \
    £ ￡ GBP EGP FKP GIP SHP SSP SYP, e£ le l.e EGP, ¥ ￥ 元 JPY CNY, 円 엔 JPY, 원 ₩ ￦ won KRW, ₫ đ VND, \
    ₹ ₨ rs INR LKR NPR PKR MUR SCR, ₽ руб р RUB BYN, ₦ n NGN, ₵ gh₵ gh¢ GHS, ₡ CRC, ¢ CRC GHS, ₲ PYG, ₸ тг KZT, ₼ AZN, \
    ₾ GEL, ₭ LAK, ₮ MNT, ֏ AMD, ៛ KHR, ৳ BDT, ksh KES, tsh TZS, ush UGX, r ZAR, s/ PEN, bs BOB VES, din дин RSD, \
    ден MKD, грн ₴ UAH, сум UZS, dh dhs د.إ AED MAD, sr ر.س SAR, ฿ บาท THB, ₺ tl TRY, ₱ PHP CUP, \
    ₪ ש״ח ש"ח ILS, kd د.ك KWD, zł PLN, kč CZK, ft HUF, lei RON MDL, rp IDR, rm MYR, kr SEK NOK DKK ISK, fr sfr CHF
    """
}
