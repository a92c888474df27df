import Base
import Glibc

/// Fuzzes the code that reads HTTP headers and URLs; the environment variable `FUZZ` chooses the target.
///
/// The targets are dates in headers, Cache-Control, Content-Range, Retry-After, and the file names that are made from
/// URLs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWire(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  target(String(decoding: input, as: UTF8.self))
  return 0
}

private let target: @Sendable (String) -> Void =
  switch getenv("FUZZ").map({ String(cString: $0) }) {
  case "dates": { fuzzDate($0) }
  case "cache-control": { fuzzCacheControl($0) }
  case "content-range": { fuzzContentRange($0) }
  case "retry-after": { fuzzRetryAfter($0) }
  case "names": { fuzzName($0) }
  default: fatalError("set FUZZ to dates, cache-control, content-range, retry-after or names")
  }

private func fuzzDate(_ text: String) {
  guard let moment = UnixTime(httpDate: text) else { return }
  // Writing a date and reading it again must give the same time.
  expect(UnixTime(httpDate: moment.httpDate) == moment, "\(text): \(moment.httpDate)")
}

/// Each input is tried with each of these as the present time; they include the first and the last possible time.
private let moments = [Int64.min, -1, 0, 1_700_000_000, 253_402_300_800, .max].map { UnixTime($0) }

private func fuzzCacheControl(_ text: String) {
  let control = CacheControl(["Cache-Control": text])
  expect(control.maxAge ?? 0 >= 0 && control.staleIfError ?? 0 >= 0, "less than none: \(text)")
  // Makes header fields from the lines of the input, then appends the fields that caching reads, with the first line as
  // their value.
  let first = String(text.prefix { !$0.isNewline })
  var headers = Headers(lines: Array(text.utf8))
  for name in ["Cache-Control", "Expires", "Age", "Date", "Last-Modified", "Vary", "ETag"] {
    headers.append(name, first)
  }
  for asked in [moments[0], moments[3], moments[5]] {
    for answered in [moments[0], moments[2], moments[5]] {
      let stored = StoredResponse(
        status: 200,
        headers: headers,
        requestTime: asked,
        responseTime: answered
      )
      expect(stored.initialAge >= 0, "younger than new: \(text)")
      for now in moments { check(stored, at: now, text) }
    }
  }
}

private func check(_ stored: StoredResponse, at now: UnixTime, _ text: String) {
  if case .fresh(let until) = stored.freshness(at: now) {
    expect(until > now, "fresh until the past: \(text)")
    expect(
      until - stored.responseTime <= FreshnessPolicy.longestLifetime,
      "fresh for more than a year: \(text)"
    )
    expect(stored.freshWindow.contains(now), "fresh outside its window: \(text)")
  }
  if stored.excusesError(at: now) {
    expect(now >= stored.freshWindow.lowerBound, "excused before it was received: \(text)")
  }
  let url = WebURL(scheme: .https, host: "a.example")
  let notModified = ResponseHead(status: 304, headers: stored.headers, url: url)
  _ = stored.renewed(by: notModified, requestTime: now, responseTime: now)
}

private func fuzzContentRange(_ text: String) {
  guard let range = ContentRange(text) else { return }
  let bytes = range.bytes
  expect(
    bytes.lowerBound >= 0 && range.whole.map { $0 > bytes.upperBound } ?? true,
    "beyond: \(text)"
  )
  let whole = range.whole?.description ?? "*"
  let written = "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(whole)"
  expect(ContentRange(written) == range, "\(text): \(written)")
}

private func fuzzRetryAfter(_ text: String) {
  for now in moments {
    expect(RetryAfter.seconds(text, now: now) ?? 0 >= 0, "before now: \(text)")
  }
}

private func fuzzName(_ text: String) {
  let name = PictureName(url: text, id: PictureID(url: text))
  let bytes = name.file.utf8
  expect(!bytes.isEmpty && bytes.count <= 80, "\(bytes.count) bytes: \(text)")
  // A name must be printable ASCII without a slash, and have exactly one dot, which is not the first character. So no
  // name leads out of its folder.
  expect(
    bytes.allSatisfy { $0 != UInt8(ascii: "/") && $0 > 0x20 && $0 < 0x7F }
      && bytes.first != UInt8(ascii: ".") && bytes.count { $0 == UInt8(ascii: ".") } == 1,
    "\(name.file) from \(text)"
  )
  expect(
    name.path == "images/\(PictureName.folderName(name.folder))/\(name.file)"
      && name.path.utf8.count == "images/00/".utf8.count + bytes.count,
    "\(name.path) from \(text)"
  )
}
