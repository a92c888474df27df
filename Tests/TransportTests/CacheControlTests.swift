import Testing

@testable import Transport

extension CacheControl {
  fileprivate init(_ value: String) { self.init(["Cache-Control": value] as Headers) }
}

/// Parses Cache-Control. (RFC 9111, section 5.2)
@Suite struct CacheControlTests {
  @Test(
    arguments: [
      ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age = 60", 60),
      ("public, max-age=60, must-revalidate", 60), ("max-age=60,max-age=10", 10),
      ("max-age=99999999999999999999", .max), ("max-age=-1", 0), ("max-age=x", 0), ("max-age", 0),
      ("max-age=", 0), ("max-age=1.5", 0), ("s-maxage=60", nil), ("x-max-age=60", nil),
      ("", nil),
      (",,;;=,\"", nil), ("a=\"max-age=5\"", nil), ("a=\"x, max-age=5\"", nil),
      ("max-age=\"6\\0\"", 60),
      ("max-age=\"60", 0), ("max-age='60'", 0), ("max-age=60;", 0), ("max-age=60 60", 0),
      ("max-age: 60", 0), ("max-age=0060", 60), ("max-age=+60", 0), ("max-age=60, max-age", 0),
      ("private=\"a, b\", max-age=7", 7), ("\"unclosed, max-age=7", 7),
    ] as [(String, Int64?)]
  )
  func `a lifetime is read`(_ value: String, _ seconds: Int64?) {
    #expect(CacheControl(value).maxAge == seconds)
  }

  @Test func `directives without values are read among any others`() {
    let control = CacheControl(
      "No-Store, no-cache=\"Set-Cookie\", , Must-Revalidate ,public,stale-if-error=30, junk junk"
    )

    #expect(control.noStore)
    #expect(control.noCache)
    #expect(control.mustRevalidate)
    #expect(control.isPublic)
    #expect(control.staleIfError == 30)
    #expect(control.maxAge == nil)
  }

  @Test func `junk after a directive does not disable it`() {
    let control = CacheControl("no-store; max-age=9, no-cache foo, public=1, must-understand")

    #expect(control.noStore && control.noCache && control.isPublic && control.mustUnderstand)
  }

  @Test func `several fields are joined into one list`() {
    let control = CacheControl(
      ["Cache-Control": "max-age=5", "cache-control": "no-cache"] as Headers
    )

    #expect(control.maxAge == 5)
    #expect(control.noCache)
  }

  @Test func `an unclosed quote hides nothing after it`() {
    let lines = CacheControl(
      ["Cache-Control": "a=\"b", "cache-control": "no-store"] as Headers
    )

    #expect(lines.noStore)
    #expect(CacheControl("a=\"b, no-cache").noCache)
  }
}
