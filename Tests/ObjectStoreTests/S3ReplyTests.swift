import Support
import Testing

@testable import ObjectStore

/// Replies of object stores, which are parsed: complete, unusual and hostile ones.
struct S3ReplyTests {
  private static func list(_ inner: String, top: String = "") -> [UInt8] {
    Array("\(top)<ListBucketResult>\(inner)</ListBucketResult>".utf8)
  }

  private static let object = "<Contents><Key>a/b</Key><Size>7</Size></Contents>"

  @Test func `a page lists its objects, whatever surrounds them`() throws {
    let text = """
       \n<?xml version="1.0" encoding="UTF-8"?>
      <!-- from a proxy -->
      <s:ListBucketResult xmlns:s="http://s3.amazonaws.com/doc/2006-03-01/" odd="&quot;>">
        <s:IsTruncated>false</s:IsTruncated><s:EncodingType>url</s:EncodingType><Empty/>
        <s:Contents><s:Owner><ID>x</ID><Key>not this</Key></s:Owner>
          <s:Key>a%2Fb+c%01&amp;&#228;<![CDATA[<d>]]></s:Key>
          <s:LastModified>2026-11-24T12:00:00.000Z</s:LastModified>
          <s:ETag>&quot;t&quot;</s:ETag><s:Size>7</s:Size></s:Contents>
      </s:ListBucketResult>
      """

    let page = try #require(S3Reply.page(Array(text.utf8)))

    let changed = "2026-11-24T12:00:00.000Z"
    #expect(
      page.objects == [.init(key: "a/b c\u{1}&\u{E4}<d>", tag: "t", bytes: 7, changed: changed)]
    )
    #expect(page.next == nil)
  }

  @Test func `an incomplete page has a continuation token`() {
    let end = "<IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>"

    #expect(S3Reply.page(Self.list(Self.object + end))?.next == "n")
  }

  @Test(
    arguments: [
      ("nothing", []), ("blanks", Array("  \n".utf8)), ("no XML", [0xFF, 0xFE, 0]),
      ("a page of a proxy", Array("<html><body>busy</body></html>".utf8)),
      ("cut", Array("<ListBucketResult><IsTruncated>false</IsTrunc".utf8)),
      ("two roots", list(end) + list(end)),
      ("words behind it", list(end) + Array("x".utf8)),
      ("crossed elements", list("<Contents><Key>a</Contents></Key>" + end)),
      ("no end told", list(object)),
      ("an end of another kind", list("<IsTruncated>maybe</IsTruncated>")),
      ("more without a way to it", list("<IsTruncated>true</IsTruncated>")),
      ("no key", list("<Contents><Size>7</Size></Contents>" + end)),
      ("no size", list("<Contents><Key>a</Key></Contents>" + end)),
      ("a size below nothing", list("<Contents><Key>a</Key><Size>-1</Size></Contents>" + end)),
      ("a size that is none", list("<Contents><Key>a</Key><Size>1e3</Size></Contents>" + end)),
      ("an entity nobody knows", list("<Contents><Key>&x;</Key><Size>7</Size></Contents>" + end)),
      ("a document type", list(end, top: "<!DOCTYPE ListBucketResult>")),
      (
        "a file of this machine",
        list(
          "<Contents><Key>&x;</Key><Size>7</Size></Contents>" + end,
          top: "<!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
        )
      ),
      (
        "a bomb",
        list(
          "&b;" + end,
          top: "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>"
        )
      ),
      ("too deep", list(String(repeating: "<a>", count: 20) + end)),
      (
        "deep and closed",
        list(String(repeating: "<a>", count: 16) + String(repeating: "</a>", count: 16) + end)
      ),
      ("more than any page has", list(String(repeating: "<a/>", count: 70_000) + end)),
    ] as [(String, [UInt8])]
  )
  func `any other document is nil`(what: String, bytes: [UInt8]) {
    #expect(S3Reply.page(bytes) == nil, "\(what)")
    #expect(S3Reply.refusal(bytes) == nil, "\(what)")
  }

  private static let end = "<IsTruncated>false</IsTruncated>"

  @Test(
    arguments: [
      ("<Error><Code>SlowDown</Code><Message>x</Message></Error>", "SlowDown"),
      ("<?xml version='1.0'?>\n\n<Error xmlns='s3'><Code>A</Code></Error>", "A"),
      ("<Error><Code>a b\u{1B}[31m</Code></Error>", nil), ("<Error><Code/></Error>", nil),
      ("<Error><Code>a b</Code></Error>", nil), ("<Error/>", nil), ("<html>", nil),
      ("<R><Error><Code>SlowDown</Code></Error></R>", nil),
      ("<Error><Code>\(String(repeating: "a", count: 65))</Code></Error>", nil),
    ] as [(String, String?)]
  )
  func `the code of a refusal is used only if it is one short word`(text: String, code: String?) {
    #expect(S3Reply.refusal(Array(text.utf8)) == code)
  }
}
