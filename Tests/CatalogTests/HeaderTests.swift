import Testing

@testable import Catalog

struct HeaderTests {
  @Test func `variables are substituted only when headers are resolved`() throws {
    let file = try catalog("headers: {token: 'Bearer ${A}-${B_2}', plain: 'x $y'}")

    #expect(file.headers.map(\.rawValue) == ["Bearer ${A}-${B_2}", "x $y"])
    let resolved = try file.headers.resolved(environment: ["A": "1", "B_2": "${A}"])
    #expect(resolved.map(\.name) == ["token", "plain"])
    #expect(resolved.map(\.value) == ["Bearer 1-${A}", "x $y"])
  }

  @Test func `an unset variable is an error that names it`() throws {
    let file = try catalog("headers: {token: '${STORE_TOKEN}'}")

    #expect {
      try file.headers.resolved(environment: [:])
    } throws: {
      let error = $0 as? CatalogError
      return error?.code == .environment && error?.isConfiguration == true
        && error?.description.contains("STORE_TOKEN") == true
    }
  }

  @Test(arguments: ["s3cret\n", "s3cret\r", "s3cret\0", "s3\u{1B}cret"])
  func `a value that would split the request is refused and not shown`(value: String) throws {
    let file = try catalog("headers: {token: '${T}'}")

    #expect {
      try file.headers.resolved(environment: ["T": value])
    } throws: {
      !"\($0)".contains("s3") && "\($0)".contains("variable T")
    }
  }

  @Test(
    arguments: [
      #"{"x y": s3cret}"#, #"{"": s3cret}"#, #"{"x:": s3cret}"#, #"{"한": s3cret}"#,
      #"{t: "s3cret\r\n"}"#,
      "{t: 's3cret ${'}", "{t: 's3cret ${1A}'}", "{t: 's3cret ${}'}", "{t: 's3cret ${A B}'}",
      "{t: s3cret, T: s3cret}", "{t: [s3cret]}", "[s3cret]",
    ])
  func `a wrong header is reported with its line, and its value is not shown`(headers: String)
    throws
  {
    let error = parsingError(
      "name: a\ncurrency: KRW\nsections: [{key: a, url: b}]\nheaders: \(headers)"
    )

    #expect(error?.line == 4)
    #expect(error?.keyPath?.hasPrefix("headers") == true)
    #expect(error.map { "\($0)".contains("s3cret") } == false)
  }

  @Test func `no description shows the value of a header`() throws {
    let file = try catalog("headers: {token: s3cret}")
    var dumped = ""
    dump(file, to: &dumped)

    #expect(!"\(file) \(String(reflecting: file))".contains("s3cret"))
    #expect(!dumped.contains("s3cret"))
    #expect("\(file.headers)".contains("token"))
  }
}
