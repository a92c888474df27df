import Base
import Cache
import Crypto
import Dispatch
import Synchronization
import Transport

/// A bucket of an object store that speaks S3, asked through a transport that signs.
///
/// Every request may be sent twice: a PUT writes the same object again.
///
/// All libcurls from 7.88 on sign its requests alike, and as stores expect. For that, keys are
/// letters, digits, `-._~` and slashes, and queries are sorted and encoded. Signed headers have no
/// two blanks in turn, and none is the beginning of another with a character below the colon
/// after it.
package final class ObjectStore: Sendable {
  /// Where it is.
  package let location: S3Location
  private let transport: any Fetching
  private let base: String
  private let token: String?
  private let region: String
  private let signings: [RequestSigning.Verb: RequestSigning]

  /// The SHA-256 of no bytes.
  private static let nothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  /// The longest document of a store that is read.
  private static let replyLimit = ByteCount.mebibytes(16)

  /// Opens a bucket; asks nothing yet.
  ///
  /// - Parameters:
  ///   - location: The bucket and the prefix.
  ///   - environment: Who asks, and where.
  ///   - transport: How to ask.
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

  /// Whether others on the network path can read and change requests and answers: http to another machine.
  package var isUnencrypted: Bool {
    guard let url = try? transport.parse(base, relativeTo: nil) else { return false }
    return url.scheme == .http && !url.isLoopback
  }

  /// A path below the location, for messages.
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
  ///   - path: To which path below the location; nil for the bucket.
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
    let text = "\(base)/\(place)" + (query.isEmpty ? "" : "?" + S3Text.query(query))
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

  /// Makes a request and tells its answer.
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

  /// The same, waiting for it.
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

  /// Writes an object unless there is one.
  ///
  /// The reply to a successful write may be lost, and its repetition refused: the stored object is then compared. A
  /// store that checks before it writes accepts two simultaneous writes, and keeps one: so the stored object is compared
  /// after a write, too. No two writers may have the same bytes.
  ///
  /// - Returns: Whether the object is this one.
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

  /// Whether of many writes at one moment that are to make one object a store takes but one.
  ///
  /// - Parameter path: Where to try, with up to 32 writes; the object is removed afterwards.
  /// - Returns: Whether it did each time; a store that takes several only now and then may seem to.
  /// - Throws: ``LarderError``.
  package func takesOneOfMany(trying path: String) throws(LarderError) -> Bool {
    for _ in 0..<4 where try taken(of: 8, at: path) != 1 { return false }
    return true
  }

  /// The number of simultaneous writes that a store accepts, of `count`.
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
  /// - Parameter path: Where to try; the object is removed afterwards.
  /// - Throws: ``LarderError`` with the code `unfit` when it writes in spite of a condition.
  package func demandConditions(trying path: String) throws(LarderError) {
    let headers = Self.once("text/plain")
    try put(
      Array("larder asks whether If-None-Match is heeded\n".utf8),
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
        "cannot plan in \(location): the store ignores If-None-Match: *, so that a shard could be "
          + "committed twice; write the plan to a folder that all machines see, or use a store "
          + "with conditional writes"
      )
    }
  }

  /// Has the store copy an object with its headers, replacing an existing one. (CopyObject)
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
          // A copy that breaks off is told in the body of a good answer.
          guard S3Reply.refusal(reply.body) == nil else {
            return .failure(LarderError(.storeUnfit, "cannot copy \(name): the store gave up"))
          }
          return .success(())
        }
      )
    }
  }

  /// Removes objects, many at a time; quiet about those that are gone.
  package func remove(_ paths: [String]) throws(LarderError) {
    try each(paths) { path, done in
      self.ask(.delete, path, doing: "remove") { done($0.map { _ in }) }
    } failed: {
      $0.code != .objectMissing
    }
  }

  /// Calls a body for each path, with limited concurrency, and waits for all.
  ///
  /// - Throws: The first failure that counts.
  func each(
    _ paths: [String],
    _ body: (String, @escaping @Sendable (Result<Void, LarderError>) -> Void) -> Void,
    failed: @escaping @Sendable (LarderError) -> Bool = { _ in true }
  ) throws(LarderError) {
    let room = DispatchSemaphore(value: Self.atOnce)
    let group = DispatchGroup()
    let first = Mutex<LarderError?>(nil)
    for path in paths {
      room.wait()
      if first.withLock({ $0 != nil }) {
        room.signal()
        break
      }
      group.enter()
      body(path) { result in
        if case .failure(let error) = result, failed(error) { first.withLock { $0 = $0 ?? error } }
        room.signal()
        group.leave()
      }
    }
    group.wait()
    if let error = first.withLock({ $0 }) { throw error }
  }

  /// How many small requests are under way.
  private static let atOnce = 64

  // MARK: - Lists

  /// Lists the objects below a path, in the order of their keys, a thousand with each request.
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
          "cannot list \(location): the answer is no list of objects; check AWS_ENDPOINT_URL_S3"
        )
      }
      for object in page.objects { try body(object) }
      if let token = page.next { try pages.advance(to: token, isEmpty: page.objects.isEmpty) }
      next = page.next
    } while next != nil
  }
}

/// Detects an endless list, for any page tokens of a store.
struct ListedPages {
  /// The most pages: a hundred million objects.
  static let most = 100_000
  /// The most pages in a row that list nothing, which a store may send after many removals.
  static let mostEmpty = 100

  private let work: String
  private var count = 0
  private var empty = 0
  private var tokens: Set<Int> = []

  /// A list that has not begun.
  ///
  /// - Parameter work: "list" and the place, for messages.
  init(_ work: String) { self.work = work }

  /// Counts a page that another one follows.
  ///
  /// - Parameters:
  ///   - token: The store's token for the next page.
  ///   - isEmpty: Whether the page listed nothing.
  /// - Throws: ``LarderError`` when the token came before, or there are too many pages.
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

/// Keeps a reply in memory.
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

/// Hands a body on.
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
