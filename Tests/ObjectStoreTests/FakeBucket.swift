import Base
import Cache
import CurlTransport
import Glibc
import Hashing
import ObjectStore
import Support
import Synchronization
import Transport

/// An open file with these bytes; it has no name any more.
func file(_ bytes: [UInt8]) throws -> OpenFile {
  let folder = try TemporaryFolder()
  try folder.write(bytes, to: "file")
  return OpenFile("a file", descriptor: open(folder.path("file"), O_RDONLY | O_CLOEXEC))
}

/// An S3 bucket in memory that implements the requests larder sends, and can fail on demand.
final class FakeBucket: Fetching {
  struct Object: Equatable {
    var bytes: [UInt8]
    var headers: Headers
    var tag: String
  }

  /// The way in which a list never ends.
  enum Endless {
    /// Each page names the same next page.
    case repeated
    /// Each page is empty and names a new next page.
    case empty
  }

  private struct State {
    var objects: [String: Object] = [:]
    var requests: [String] = []
    var failing: Int?
    var dies = false
    var overtaking: [UInt8]?
    var pageSize = 1000
    var endless: Endless?
    var refusal: (status: Int, code: String) = (503, "SlowDown")
  }

  private let state = Mutex(State())
  private let parser = CurlURLParser()

  static let base = "http://127.0.0.1:9/shop/"

  /// The objects, by key.
  var objects: [String: Object] {
    get { state.withLock { $0.objects } }
    set { state.withLock { $0.objects = newValue } }
  }
  /// The requests so far, such as `PUT images/…?query`.
  var requests: [String] {
    get { state.withLock { $0.requests } }
    set { state.withLock { $0.requests = newValue } }
  }

  /// Makes the request of this number fail, counted from now on.
  ///
  /// If `andAll` is true, every later request fails too, as if the process had been killed.
  func fail(
    _ number: Int?,
    andAll: Bool = false,
    with status: Int = 503,
    _ code: String = "SlowDown"
  ) {
    state.withLock {
      $0.requests = []
      $0.failing = number
      $0.dies = andAll
      $0.refusal = (status, code)
    }
  }

  /// Replaces the bytes of a conditional write by those of another writer.
  func overtake(with bytes: [UInt8]) { state.withLock { $0.overtaking = bytes } }
  func list(pagesOf size: Int) { state.withLock { $0.pageSize = size } }
  /// Makes every list endless.
  func list(_ endless: Endless) { state.withLock { $0.endless = endless } }
  /// The store at `s3://shop/m` in this bucket.
  func store() throws -> ObjectStore {
    let environment = try S3Environment([
      "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
      "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
    ])
    return ObjectStore(try S3Location(parsing: "s3://shop/m"), environment, transport: self)
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try parser.parse(text, relativeTo: base)
  }

  func cancelAll() {}

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let (status, headers, body) = state.withLock { answer(request, &$0) }
    guard (200...299).contains(status) else {
      var failure = TransferFailure(
        reason: .http(status),
        url: request.url.redacted,
        attempts: 1,
        status: status
      )
      failure.refusal = body
      return completion(.failure(failure))
    }
    let head = ResponseHead(status: status, headers: headers, url: request.url)
    _ = sink.begin(head, at: 0)
    if request.signing?.verb != .head { _ = sink.receive(body.span.bytes) }
    let count = ByteCount(body.count)
    completion(.success(Response(head: head, bodyBytes: count, wireBytes: count)))
  }

  private func answer(_ request: Request, _ state: inout State) -> (Int, Headers, [UInt8]) {
    func refusal(_ status: Int, _ code: String) -> (Int, Headers, [UInt8]) {
      (status, [:], Array("<Error><Code>\(code)</Code></Error>".utf8))
    }
    let verb = request.signing?.verb ?? .get
    let rest = String(request.url.text.dropFirst(Self.base.count))
    state.requests.append("\(verb.rawValue) \(rest)")
    if let failing = state.failing,
      state.requests.count == failing || state.dies && state.requests.count > failing
    {
      return refusal(state.refusal.status, state.refusal.code)
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let key = String(parts[0])
    var query: [String: String] = [:]
    for pair in (parts.count > 1 ? String(parts[1]) : "").split(separator: "&") {
      let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
      query[String(sides[0])] = String(sides[1]).replacing("%2F", with: "/")
    }
    let body = request.body ?? []
    func tag(_ bytes: [UInt8]) -> String {
      Hexadecimal.text(SHA256.digest(of: bytes).prefix(16))
    }
    switch verb {
    case .get where key.isEmpty:
      return (200, [:], Array(list(query, state).utf8))
    case .get, .head:
      guard let object = state.objects[key] else { return refusal(404, "NoSuchKey") }
      var headers = object.headers
      headers.append("ETag", "\"\(object.tag)\"")
      let all = object.bytes.count
      if let text = request.headers["Range"] {
        let ends = text.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        guard ends.count == 2, ends[0] < all else { return refusal(416, "InvalidRange") }
        let part = ends[0]..<min(all, ends[1] + 1)
        headers.append("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(all)")
        headers.append("Content-Length", "\(part.count)")
        return (206, headers, Array(object.bytes[part]))
      }
      headers.append("Content-Length", "\(all)")
      return (200, headers, object.bytes)
    case .put:
      let isConditional = request.headers.contains("If-None-Match")
      if isConditional, state.objects[key] != nil {
        return refusal(412, "PreconditionFailed")
      }
      state.objects[key] = Object(bytes: body, headers: request.headers, tag: tag(body))
      if isConditional, let other = state.overtaking {
        state.objects[key] = Object(bytes: other, headers: request.headers, tag: tag(other))
      }
      return (200, ["ETag": "\"\(tag(body))\""], [])
    case .delete:
      state.objects[key] = nil
      return (204, [:], [])
    }
  }

  private func list(_ query: [String: String], _ state: State) -> String {
    if let endless = state.endless {
      let token = endless == .repeated ? "same" : "token-\(state.requests.count)"
      return "<ListBucketResult><IsTruncated>true</IsTruncated>"
        + "<NextContinuationToken>\(token)</NextContinuationToken></ListBucketResult>"
    }
    let keys = state.objects.keys.filter { $0.hasPrefix(query["prefix"] ?? "") }.sorted()
    let rest = keys.filter { $0 > query["continuation-token"] ?? "" }
    let page = rest.prefix(state.pageSize)
    let contents = page.map { key in
      let object = state.objects[key]
      return "<Contents><Key>\(key)</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>"
        + "<ETag>&quot;\(object?.tag ?? "")&quot;</ETag><Size>\(object?.bytes.count ?? 0)</Size>"
        + "</Contents>"
    }
    let isCut = page.count < rest.count
    return "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>\(contents.joined())"
      + (isCut ? "<NextContinuationToken>\(page.last ?? "")</NextContinuationToken>" : "")
      + "</ListBucketResult>"
  }
}
