import Testing

@testable import Transport

/// Header fields and the expected freshness, as a table for ``FreshnessTests``.
extension FreshnessTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let headers: Headers
    var took: Int64 = 0
    var status = 200
    /// The number of seconds for which the response is fresh.
    ///
    /// Nil if it is never fresh.
    let fresh: Int64?

    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "max-age (4.2.1)", headers: ["Cache-Control": "max-age=60"], fresh: 60),
    Case(
      name: "a field that Connection names is not stored (3.1)",
      headers: ["Cache-Control": "max-age=60", "Connection": "Cache-Control"],
      fresh: nil
    ),
    Case(
      name: "max-age outranks Expires (5.3)",
      headers: ["Cache-Control": "max-age=60", "Expires": ago(-999)],
      fresh: 60
    ),
    Case(
      name: "s-maxage is for shared caches (5.2.2.10)",
      headers: ["Cache-Control": "s-maxage=60"],
      fresh: nil
    ),
    Case(name: "Expires (5.3)", headers: ["Expires": ago(-90), "Date": ago(0)], fresh: 90),
    Case(name: "Expires without Date", headers: ["Expires": ago(-90)], fresh: 90),
    Case(name: "Expires 0 is past (5.3)", headers: ["Expires": "0", "Date": ago(0)], fresh: nil),
    Case(name: "Expires in the past", headers: ["Expires": ago(5)], fresh: nil),
    Case(
      name: "Expires by the server's clock, not ours (4.2.1)",
      headers: ["Expires": ago(-3690), "Date": ago(-3600)],
      fresh: 90
    ),
    Case(
      name: "an Age is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Age": "20"],
      fresh: 40
    ),
    Case(
      name: "an old Date is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Date": ago(20)],
      fresh: 40
    ),
    Case(
      name: "the delay is taken off (4.2.3)",
      headers: ["Cache-Control": "max-age=60"],
      took: 20,
      fresh: 40
    ),
    Case(
      name: "Age and delay add up (4.2.3)",
      headers: ["Cache-Control": "max-age=60", "Age": "20"],
      took: 20,
      fresh: 20
    ),
    Case(
      name: "an Age over the lifetime",
      headers: ["Cache-Control": "max-age=60", "Age": "61"],
      fresh: nil
    ),
    Case(
      name: "an Age that is endless",
      headers: ["Cache-Control": "max-age=60", "Age": "99999999999999999999"],
      took: 9,
      fresh: nil
    ),
    Case(
      name: "an Age that is junk",
      headers: ["Cache-Control": "max-age=60", "Age": "x"],
      fresh: 60
    ),
    Case(
      name: "a tenth of the unchanged time (4.2.2)",
      headers: ["Last-Modified": ago(1000), "Date": ago(0)],
      fresh: 100
    ),
    Case(
      name: "a guess is at most a day",
      headers: ["Last-Modified": ago(900_000_000)],
      fresh: FreshnessPolicy.longestGuess
    ),
    Case(name: "Last-Modified in the future", headers: ["Last-Modified": ago(-1000)], fresh: nil),
    Case(
      name: "no guess for statuses that allow none (RFC 9110, 15.1)",
      headers: ["Last-Modified": ago(1000)],
      status: 201,
      fresh: nil
    ),
    Case(name: "nothing said", headers: [:], fresh: nil),
    Case(
      name: "no-cache (5.2.2.4)",
      headers: ["Cache-Control": "max-age=60, no-cache"],
      fresh: nil
    ),
    Case(
      name: "no-store (5.2.2.5)",
      headers: ["Cache-Control": "max-age=60, no-store"],
      fresh: nil
    ),
    Case(
      name: "a lifetime beyond all years",
      headers: ["Cache-Control": "max-age=99999999999999999999"],
      fresh: FreshnessPolicy.longestLifetime
    ),
    Case(
      name: "immutable has its lifetime too (RFC 8246)",
      headers: ["Cache-Control": "max-age=60, immutable"],
      fresh: 60
    ),
    Case(
      name: "an Age with a fraction is none (5.1)",
      headers: ["Cache-Control": "max-age=60", "Age": "120.0"],
      fresh: 60
    ),
    Case(
      name: "a negative Age is none (5.1)",
      headers: ["Cache-Control": "max-age=60", "Age": "-120"],
      fresh: 60
    ),
    Case(
      name: "of several Ages the first counts (5.1)",
      headers: ["Cache-Control": "max-age=60", "Age": "20, 120"],
      fresh: 40
    ),
    Case(
      name: "of several Age fields the first counts (5.1)",
      headers: ["Cache-Control": "max-age=60", "Age": "120", "age": "0"],
      fresh: nil
    ),
    Case(
      name: "Expires that differ are over (4.2.1)",
      headers: ["Expires": ago(-90), "expires": ago(-91)],
      fresh: nil
    ),
    Case(
      name: "Expires that are the same are one",
      headers: ["Expires": ago(-90), "expires": ago(-90)],
      fresh: 90
    ),
    Case(
      name: "Expires in another zone is past (5.3)",
      headers: ["Expires": "Thu, 18 Aug 2050 02:01:18 UTC"],
      fresh: nil
    ),
    Case(
      name: "an invalid Date is of when it came",
      headers: ["Expires": ago(-90), "Date": "foo"],
      fresh: 90
    ),
    Case(
      name: "Expires is measured by a slow Date, and so is its Age (4.2)",
      headers: ["Date": ago(10), "Expires": ago(-10), "Age": "25"],
      fresh: nil
    ),
    Case(
      name: "Vary: * (4.1)",
      headers: ["Cache-Control": "max-age=60", "Vary": "*"],
      fresh: nil
    ),
    Case(
      name: "a star in any Vary (4.1)",
      headers: ["Cache-Control": "max-age=60", "Vary": "A", "vary": ", *"],
      fresh: nil
    ),
    Case(
      name: "must-understand outranks no-store where the status is understood (5.2.2.3)",
      headers: ["Cache-Control": "max-age=60, no-store, must-understand"],
      fresh: 60
    ),
    Case(
      name: "must-understand of a status that nobody knows (5.2.2.3)",
      headers: ["Cache-Control": "max-age=60, must-understand"],
      status: 299,
      fresh: nil
    ),
    Case(
      name: "an unknown 2xx has the lifetime that it says",
      headers: ["Cache-Control": "max-age=60"],
      status: 299,
      fresh: 60
    ),
    Case(
      name: "an unknown 2xx is not guessed about (RFC 9110, 15.1)",
      headers: ["Last-Modified": ago(1000)],
      status: 299,
      fresh: nil
    ),
    Case(
      name: "public may be guessed about (4.2.2)",
      headers: ["Last-Modified": ago(1000), "Cache-Control": "public"],
      status: 299,
      fresh: 100
    ),
    Case(
      name: "203 is guessed about (RFC 9110, 15.1)",
      headers: ["Last-Modified": ago(1000)],
      status: 203,
      fresh: 100
    ),
    Case(name: "max-age=0", headers: ["Cache-Control": "max-age=0"], fresh: nil),
  ]
}
