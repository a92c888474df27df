import Base
import Cache
import Testing
import Transport

@testable import ObjectStore

/// The header fields with which a picture's row is stored beside its object.
struct S3HeadersTests {
  private func entry(url: String, response: String?) -> PictureEntry {
    var entry = PictureEntry(id: PictureID(url: url), url: url)
    entry.sha256 = (0..<32).map { UInt8($0 * 7 & 255) }
    entry.bytes = 5
    entry.type = .jpeg
    entry.response = response
    entry.fetched = 10
    entry.checked = 20
    entry.expiry = UnixTime(response == nil ? 0 : 30)
    entry.stamp = S3Headers.stamp(tag: "abc", bytes: 5)
    return entry
  }

  private func stored(_ entry: PictureEntry) -> Headers {
    var headers = S3Headers.headers(of: entry)
    headers.append("ETag", "\"abc\"")
    headers.append("Content-Length", "5")
    return headers
  }

  @Test(arguments: [
    "http://a.example/p.jpg", "https://a.example/밑반찬.jpg?x=1&y=%20", "http://a/\u{7F}\"'<>",
  ])
  func `a row reads back as it was stored`(url: String) {
    let entry = entry(url: url, response: "1 2\nETag: \"x\"\nVary: a,  b\n")

    #expect(S3Headers.entry(stored(entry)) == entry)
  }

  @Test func `values that do not fit into two kibibytes are left out, never truncated`() {
    let long = entry(
      url: "http://a/" + String(repeating: "x", count: 1500),
      response: "1 2\nX: \(String(repeating: "y", count: 1000))\n"
    )
    let wordy = entry(
      url: "http://a/",
      response: "1 2\nX: \(String(repeating: "y", count: 3000))\n"
    )

    for entry in [long, wordy] {
      let size = S3Headers.headers(of: entry).fields.filter { $0.name.hasPrefix("x-amz-meta-") }
        .reduce(0) { $0 + $1.name.utf8.count - 11 + $1.value.utf8.count }
      #expect(size <= 2048)
    }
    let found = S3Headers.entry(stored(long))
    #expect(found.url.isEmpty)
    #expect(found.sha256 == long.sha256)
    #expect(S3Headers.entry(stored(wordy)).response == nil)
  }

  @Test func `a foreign object has no digest`() {
    let found = S3Headers.entry(["ETag": "\"q\"", "Content-Length": "9"])

    #expect(found.sha256 == nil)
    #expect(found.stamp == S3Headers.stamp(tag: "q", bytes: 9))
  }

  @Test func `every header is one that all versions of libcurl sign correctly`() {
    let entry = entry(url: "http://a/?b  c", response: "1 2\nA:  b   c\n")

    let fields = S3Headers.headers(of: entry).fields

    // No value contains a space or is empty, and no name is the beginning of another name.
    for field in fields {
      #expect(!field.value.isEmpty && !field.value.contains(" "))
      for other in fields where other.name != field.name {
        #expect(!other.name.hasPrefix(field.name))
      }
    }
  }
}
