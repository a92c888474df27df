import Base
import Cache
import Crypto
import Dispatch
import Synchronization
import Transport

/// A client for one bucket of an S3 object store; the transport signs its requests.
///
/// Every request may be sent twice: a repeated PUT writes the same object again.
///
/// Versions of libcurl since 7.88 compute different signatures for some requests. These rules avoid all such requests:
///
/// - Keys contain only letters, digits, `-._~` and slashes.
/// - Queries are sorted and encoded.
/// - Signed headers contain no two blanks in a row.
/// - No two signed headers have names like `x-a` and `x-a-b`: the longer name continues the shorter one with a
///   character that sorts before the colon.
package final class ObjectStore: Sendable {
  /// The bucket and the prefix.
  package let location: S3Location
  private let transport: any Fetching
  private let base: String
  private let token: String?
  private let region: String
  private let signings: [RequestSigning.Verb: RequestSigning]

  /// The SHA-256 of no bytes.
  private static let nothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  /// The maximum size of a store's reply.
  private static let replyLimit = ByteCount.mebibytes(16)

  /// Makes a client; sends no request yet.
  ///
  /// - Parameters:
  ///   - location: The bucket and the prefix.
  ///   - environment: The credentials and the store's address.
  ///   - transport: The transport for the requests.
  package init(
    _ location: S3Location,
    _ environment: S3Environment,
    transport: any Fetching
  ) {
    self.location = location
    self.transport = transport
    base = environment.base(of: location.bucket)
    token = environment.token
    region = environment.region
    var signings: [RequestSigning.Verb: RequestSigning] = [:]
    for verb in [RequestSigning.Verb.get, .head, .put, .post, .delete] {
      signings[verb] = RequestSigning(
        verb,
        region: environment.region,
        user: environment.user,
        secret: environment.secret
      )
    }
    self.signings = signings
  }

  /// Whether requests and replies cross the network unencrypted: the address is `http:`, and not on this machine.
  package var isUnencrypted: Bool {
    guard let url = try? transport.parse(base, relativeTo: nil) else { return false }
    return url.scheme == .http && !url.isLoopback
  }

  /// The `s3://` name of a path below the location, for messages.
  package func name(_ path: String) -> String { "\(location)/\(path)" }

  /// The reply to a request, with its body in memory.
  struct Reply: Sendable {
    let head: ResponseHead
    let body: [UInt8]

    /// The entity-tag without its quotation marks.
    var tag: String { S3Reply.tag(head.headers["ETag"] ?? "") }
  }

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - verb: The operation.
  ///   - path: The path of the object below the location; nil for a request to the bucket.
  ///   - query: Further query parameters.
  ///   - headers: Further headers; the signature covers them.
  ///   - body: The body.
  /// - Returns: The request.
  /// - Throws: ``LarderError`` when the address is no URL.
  private func request(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    query: [String: String],
    headers: Headers,
    body: [UInt8]?
  ) throws(LarderError) -> Request {
    let place = path.map { location.key($0) } ?? ""
    // Sorted and with a `=` after each name, because stores compute the signature from this form. libcurl before 8.3
    // signs a query as it is given.
    let parameters = query.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(PercentEncoding.escaped($0.value))" }
    let text = "\(base)/\(place)" + (query.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    var request: Request
    do throws(TransferFailure) {
      request = Request(try transport.parse(text, relativeTo: nil))
    } catch {
      throw LarderError(error, "ask", "\(location)")
    }
    request.signing = signings[verb]
    request.trust = .named
    request.bodyLimit = Self.replyLimit
    request.accept = .anything
    request.headers = headers
    request.asksForPart = headers.contains("Range")
    let digest = body.map { Hexadecimal.text(SHA256.hash(data: $0)) } ?? Self.nothing
    request.headers.append("x-amz-content-sha256", digest)
    if let token { request.credentials.append("x-amz-security-token", token) }
    if let body {
      request.method = .post
      request.isQuery = true
      request.body = body
    }
    return request
  }

  /// Sends a request and calls `completion` with its reply.
  ///
  /// The message of an error begins with "cannot", `words` and the object's name.
  func ask(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    query: [String: String] = [:],
    headers: Headers = Headers(),
    body: [UInt8]? = nil,
    doing words: String,
    completion: @escaping @Sendable (Result<Reply, LarderError>) -> Void
  ) {
    let name = path.map { self.name($0) } ?? "\(location)"
    let isConditional = headers.contains("If-None-Match")
    let request: Request
    do throws(LarderError) {
      request = try self.request(verb, path, query: query, headers: headers, body: body)
    } catch {
      return completion(.failure(error))
    }
    let sink = ReplySink()
    transport.fetch(request, into: sink) { result in
      completion(
        result.map { Reply(head: $0.head, body: sink.bytes) }
          .mapError { LarderError($0, words, name, isConditional: isConditional) }
      )
    }
  }

  /// Sends a request and waits for its reply.
  ///
  /// The message of an error begins with "cannot", `words` and the object's name.
  func answer(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    query: [String: String] = [:],
    headers: Headers = Headers(),
    body: [UInt8]? = nil,
    doing words: String
  ) throws(LarderError) -> Reply {
    let result = Mutex<Result<Reply, LarderError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    ask(verb, path, query: query, headers: headers, body: body, doing: words) { reply in
      result.withLock { $0 = reply }
      done.signal()
    }
    done.wait()
    guard let reply = result.withLock({ $0 }) else {
      throw LarderError(.storeUnfit, "cannot \(words) \(location): the transport gave no answer")
    }
    return try reply.get()
  }

  // MARK: - Objects

  /// Reads an object into a sink; nil when there is none.
  ///
  /// - Throws: ``LarderError``.
  func read(_ path: String, into sink: any BodySink) throws(LarderError) -> ResponseHead? {
    var request = try request(.get, path, query: [:], headers: Headers(), body: nil)
    request.bodyLimit = ByteCount(Int64.max / 2)
    switch transport.result(of: request, into: sink) {
    case .success(let response): return response.head
    case .failure(let failure):
      let error = LarderError(failure, "read", name(path))
      if error.code == .objectMissing { return nil }
      throw error
    }
  }

  /// The bytes of a small object; nil when there is none.
  package func bytes(of path: String) throws(LarderError) -> [UInt8]? {
    let sink = ReplySink()
    return try read(path, into: sink).map { _ in sink.bytes }
  }

  /// Writes an object in one request, replacing an existing one.
  package func put(_ bytes: [UInt8], to path: String, type: String) throws(LarderError) {
    _ = try answer(.put, path, headers: ["Content-Type": type], body: bytes, doing: "write")
  }

  /// Creates an object unless it exists. (`If-None-Match: *`)
  ///
  /// The stored object is compared with `bytes` in two cases:
  ///
  /// - After a refusal: the reply to a successful first write may have been lost, so that the repeated write was
  ///   refused.
  /// - After a success: a store that checks before it writes may accept two simultaneous writes, and keep only one
  ///   object.
  ///
  /// The comparison needs different bytes from each writer.
  ///
  /// - Returns: Whether the stored object has these bytes.
  /// - Throws: ``LarderError``.
  package func create(_ bytes: [UInt8], at path: String, type: String) throws(LarderError) -> Bool
  {
    do throws(LarderError) {
      let mine = try answer(.put, path, headers: Self.once(type), body: bytes, doing: "write").tag
      let there = try answer(.head, path, doing: "read").tag
      return mine == there
    } catch {
      guard error.code == .objectExists else { throw error }
      return try self.bytes(of: path) == bytes
    }
  }

  private static func once(_ type: String) -> Headers {
    ["Content-Type": type, "If-None-Match": "*"]
  }

  /// Tests whether the store accepts only one of many simultaneous conditional writes of one object.
  ///
  /// - Parameter path: The path of the test object. It is written by 8 simultaneous requests, up to four times, and
  ///   removed each time.
  /// - Returns: Whether the store accepted only one write each time. A store that only sometimes accepts several writes
  ///   may pass the test.
  /// - Throws: ``LarderError``.
  package func takesOneOfMany(trying path: String) throws(LarderError) -> Bool {
    for _ in 0..<4 where try taken(of: 8, at: path) != 1 { return false }
    return true
  }

  /// Sends `count` simultaneous conditional writes, and returns how many the store accepted.
  private func taken(of count: Int, at path: String) throws(LarderError) -> Int {
    let taken = Atomic<Int>(0)
    try each((0..<count).map { "\($0)" }) { writer, done in
      let body = Array("writer \(writer)\n".utf8)
      let headers = Self.once("text/plain")
      self.ask(.put, path, headers: headers, body: body, doing: "write") { result in
        if case .success = result { taken.add(1, ordering: .relaxed) }
        done(result.map { _ in })
      }
    } failed: {
      $0.code != .objectExists
    }
    try remove([path])
    return taken.load(ordering: .relaxed)
  }

  /// Requires that the store refuses a conditional write to an existing object.
  ///
  /// - Parameter path: The path of the test object; it is removed afterwards.
  /// - Throws: ``LarderError`` with the code `unfit` when the store writes in spite of `If-None-Match: *`.
  package func demandConditions(trying path: String) throws(LarderError) {
    let headers = Self.once("text/plain")
    try put(
      Array("larder tests whether If-None-Match is respected\n".utf8),
      to: path,
      type: "text/plain"
    )
    let isHeeded: Bool
    do throws(LarderError) {
      let other = Array("it is not\n".utf8)
      _ = try answer(.put, path, headers: headers, body: other, doing: "write")
      isHeeded = false
    } catch {
      guard error.code == .objectExists || error.code == .storeUnfit else { throw error }
      isHeeded = error.code == .objectExists
    }
    try remove([path])
    guard isHeeded else {
      throw LarderError(
        .storeUnfit,
        "cannot plan in \(location): the store ignores If-None-Match: *, so two runs could commit "
          + "the same shard; write the plan to a folder that all machines share, or use a store "
          + "with conditional writes"
      )
    }
  }

  /// Makes the store copy an object with its headers, replacing an object at the new path. (CopyObject)
  func copy(
    _ path: String,
    to other: String,
    completion: @escaping @Sendable (Result<Void, LarderError>) -> Void
  ) {
    let name = name(path)
    let source = "/\(location.bucket)/\(location.key(path))"
    ask(.put, other, headers: ["x-amz-copy-source": source], body: [], doing: "copy") { result in
      completion(
        result.flatMap { reply in
          // If a copy fails midway, the store reports the error in the body of a 200.
          guard S3Reply.refusal(reply.body) == nil else {
            return .failure(
              LarderError(.storeUnfit, "cannot copy \(name): the store failed midway")
            )
          }
          return .success(())
        }
      )
    }
  }

  /// Removes objects, many at a time; ignores those that do not exist.
  package func remove(_ paths: [String]) throws(LarderError) {
    try each(paths) { path, done in
      self.ask(.delete, path, doing: "remove") { done($0.map { _ in }) }
    } failed: {
      $0.code != .objectMissing
    }
  }

  /// Calls `body` for each path, with limited concurrency, and waits until all are complete.
  ///
  /// - Throws: The first error of `body` for which `failed` returns true.
  func each(
    _ paths: [String],
    _ body: (String, @escaping @Sendable (Result<Void, LarderError>) -> Void) -> Void,
    failed: @escaping @Sendable (LarderError) -> Bool = { _ in true }
  ) throws(LarderError) {
    let slots = DispatchSemaphore(value: Self.atOnce)
    let group = DispatchGroup()
    let first = Mutex<LarderError?>(nil)
    for path in paths {
      slots.wait()
      if first.withLock({ $0 != nil }) {
        slots.signal()
        break
      }
      group.enter()
      body(path) { result in
        if case .failure(let error) = result, failed(error) { first.withLock { $0 = $0 ?? error } }
        slots.signal()
        group.leave()
      }
    }
    group.wait()
    if let error = first.withLock({ $0 }) { throw error }
  }

  /// The maximum number of simultaneous requests.
  private static let atOnce = 64

  // MARK: - Lists

  /// Lists the objects below a path in the order of their keys, a thousand per page.
  func forEach(
    below path: String,
    _ body: (S3Reply.Object) throws(LarderError) -> Void
  ) throws(LarderError) {
    var pages = ListedPages("list \(location)")
    var next: String?
    repeat {
      var query = ["encoding-type": "url", "list-type": "2", "max-keys": "1000"]
      query["prefix"] = location.key(path)
      if let next { query["continuation-token"] = next }
      let reply = try answer(.get, nil, query: query, doing: "list")
      guard let page = S3Reply.page(reply.body) else {
        throw LarderError(
          .storeUnfit,
          "cannot list \(location): the answer is not a list of objects; check AWS_ENDPOINT_URL_S3"
        )
      }
      for object in page.objects { try body(object) }
      if let token = page.next { try pages.advance(to: token, isEmpty: page.objects.isEmpty) }
      next = page.next
    } while next != nil
  }
}

/// Detects an endless list: a page token that comes twice, too many pages, or too many empty pages.
struct ListedPages {
  /// The maximum number of pages, enough for a hundred million objects.
  static let most = 100_000
  /// The maximum number of empty pages in a row; a store may send some after many removals.
  static let mostEmpty = 100

  private let work: String
  private var count = 0
  private var empty = 0
  private var tokens: Set<Int> = []

  /// Starts counting the pages of a list.
  ///
  /// - Parameter work: The action, which follows "cannot" in messages, such as "list s3://bucket".
  init(_ work: String) { self.work = work }

  /// Counts a page that is not the last.
  ///
  /// - Parameters:
  ///   - token: The store's token for the next page.
  ///   - isEmpty: Whether the page listed nothing.
  /// - Throws: ``LarderError`` when the token was sent before, or there are too many pages or too many empty pages in a
  ///   row.
  mutating func advance(to token: String, isEmpty: Bool) throws(LarderError) {
    count += 1
    empty = isEmpty ? empty + 1 : 0
    guard tokens.insert(token.hashValue).inserted, count < Self.most, empty < Self.mostEmpty else {
      throw LarderError(
        .storeUnfit,
        "cannot \(work): the store's list does not end; check AWS_ENDPOINT_URL_S3"
      )
    }
  }
}

/// Collects the body of a reply in memory.
final class ReplySink: BodySink {
  private let gathered = Mutex<[UInt8]>([])

  var bytes: [UInt8] { gathered.withLock { $0 } }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    gathered.withLock { gathered in bytes.withUnsafeBytes { gathered.append(contentsOf: $0) } }
    return .accept
  }

  func restart() { gathered.withLock { $0 = [] } }
}

/// Passes a body on to a closure, piece by piece.
final class PassingSink: BodySink {
  private let again: @Sendable () -> Void
  private let piece: @Sendable (RawSpan) -> Void

  init(restart: @escaping @Sendable () -> Void, piece: @escaping @Sendable (RawSpan) -> Void) {
    (again, self.piece) = (restart, piece)
  }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision { .accept }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    piece(bytes)
    return .accept
  }

  func restart() { again() }
}
