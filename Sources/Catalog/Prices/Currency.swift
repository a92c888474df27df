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

  /// The meaning of a point before three digits, as in "25.000".
  enum Separators {
    /// The point is the decimal separator. Commas group thousands, as in "1,299.50".
    case decimalPoint
    /// The point groups thousands, so "25.000" is 25,000. In practice, prices in the currency have no decimals.
    case pointGroups
    /// People group thousands with the point, but programs write the point as the decimal separator.
    case either
  }

  /// The meaning of a point before three digits in prices of a currency that has two decimals. (CLDR 46, the locales of
  /// the currency)
  static func separators(of code: String) -> Separators {
    switch code {
    case "AOA", "ARS", "COP", "CRC", "CZK", "HUF", "IDR", "RSD", "UYU", "UZS", "VED", "VES":
      .pointGroups
    case "ALL", "AZN", "BAM", "BOB", "BRL", "BYN", "CVE", "DKK", "DZD", "EUR", "GEL", "MAD", "MDL",
      "MKD", "MZN", "NOK", "PLN", "RON", "RUB", "SEK", "TRY", "UAH":
      .either
    default: .decimalPoint
    }
  }

  /// The codes of the currencies that a written unit can mean, for example "USD" and "CAD" for "$".
  ///
  /// The result is empty for an unknown unit.
  static func codes(writtenAs unit: String) -> [String] {
    switch unit {
    case "원", "₩", "￦", "won": ["KRW"]
    case "$", "＄":
      [
        "USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "BBD", "BMD",
        "BND", "BSD", "BZD", "DOP", "FJD", "GYD", "JMD", "KYD", "LRD", "NAD", "SBD", "SRD", "TTD",
        "UYU", "XCD",
      ]
    case "us$", "달러": ["USD"]
    case "a$", "au$": ["AUD"]
    case "c$", "ca$": ["CAD"]
    case "nz$": ["NZD"]
    case "s$": ["SGD"]
    case "hk$": ["HKD"]
    case "nt$": ["TWD"]
    case "mx$": ["MXN"]
    case "r$": ["BRL"]
    case "€", "유로": ["EUR"]
    case "£", "￡": ["GBP", "EGP", "FKP", "GIP", "SHP", "SSP", "SYP"]
    case "¥", "￥", "元": ["JPY", "CNY"]
    case "円", "엔": ["JPY"]
    case "₫", "đ": ["VND"]
    case "₹", "₨", "rs", "rs.": ["INR", "LKR", "NPR", "PKR", "MUR", "SCR"]
    case "₽", "руб", "руб.", "р", "р.": ["RUB", "BYN"]
    case "₦", "n": ["NGN"]
    case "₵", "gh₵", "gh¢": ["GHS"]
    case "₡": ["CRC"]
    case "₲": ["PYG"]
    case "₸", "тг", "тг.": ["KZT"]
    case "₼": ["AZN"]
    case "₾": ["GEL"]
    case "₭": ["LAK"]
    case "₮": ["MNT"]
    case "֏": ["AMD"]
    case "៛": ["KHR"]
    case "৳": ["BDT"]
    case "ksh", "ksh.": ["KES"]
    case "tsh", "tsh.": ["TZS"]
    case "ush", "ush.": ["UGX"]
    case "r": ["ZAR"]
    case "s/", "s/.": ["PEN"]
    case "bs", "bs.": ["BOB", "VES"]
    case "din", "din.", "дин", "дин.": ["RSD"]
    case "ден", "ден.": ["MKD"]
    case "грн", "грн.": ["UAH"]
    case "сум": ["UZS"]
    case "dh", "dhs", "د.إ": ["AED", "MAD"]
    case "sr", "ر.س", "ر.س.": ["SAR"]
    case "e£", "le", "l.e.": ["EGP"]
    case "฿", "บาท": ["THB"]
    case "₺", "tl", "tl.": ["TRY"]
    case "₴": ["UAH"]
    case "₱": ["PHP", "CUP"]
    case "₪", "ש״ח", "ש\"ח": ["ILS"]
    case "kd", "د.ك", "د.ك.": ["KWD"]
    case "zł", "zł.": ["PLN"]
    case "kč", "kč.": ["CZK"]
    case "ft", "ft.": ["HUF"]
    case "lei", "lei.": ["RON", "MDL"]
    case "rp", "rp.": ["IDR"]
    case "rm": ["MYR"]
    case "kr", "kr.": ["SEK", "NOK", "DKK", "ISK"]
    case "fr", "fr.", "sfr.": ["CHF"]
    default: codes.contains(unit.uppercased()) ? [unit.uppercased()] : []
    }
  }
}
