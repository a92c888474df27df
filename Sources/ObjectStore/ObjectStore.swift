import Base
import Dispatch
import Hashing
import Synchronization
import Transport

/// A client for one bucket of an S3 object store.
///
/// The transport signs the requests.
///
/// It is safe to send a request twice, because a repeated PUT writes the same object again.
///
/// Since version 7.88, different versions of libcurl compute different signatures for some requests. This client
/// avoids all such requests:
///
/// - Keys contain only letters, digits, `-._~` and slashes.
/// - Queries are sorted and encoded.
/// - Signed header fields do not contain two spaces in a row.
/// - If a signed header field has a name such as `x-a`, no other signed field has a name such as `x-a-b`. The character
///   `-` would sort before the colon that follows the shorter name.
package final class ObjectStore: Sendable {
  /// The bucket and the prefix.
  package let location: S3Location
  private let environment: S3Environment
  private let transport: any Fetching
  private let base: String

  /// The maximum size of a reply that is read into memory.
  private static let replyLimit = ByteCount.mebibytes(16)

  /// Makes a client.
  ///
  /// It sends no request yet.
  ///
  /// - Parameters:
  ///   - location: The bucket, and the prefix of all keys in it.
  ///   - environment: The credentials, and the address of the store.
  ///   - transport: The transport that sends the requests.
  package init(
    _ location: S3Location,
    _ environment: S3Environment,
    transport: any Fetching
  ) {
    self.location = location
    self.environment = environment
    self.transport = transport
    base = environment.base(of: location.bucket)
  }

  /// Whether requests and replies are sent over the network without encryption.
  ///
  /// This is the case if the address begins with `http:` and the store is not on this machine.
  package var isUnencrypted: Bool {
    guard let url = try? transport.parse(base, relativeTo: nil) else { return false }
    return url.scheme == .http && !url.isLoopback
  }

  /// The full name of an object for messages, such as `s3://bucket/prefix/images/3f/….jpg`.
  package func name(_ path: String) -> String { "\(location)/\(path)" }

  /// The reply to a request, with its whole body.
  struct Reply: Sendable {
    let head: ResponseHead
    let body: [UInt8]

    /// The entity-tag of the object, without its quotation marks.
    var tag: String { S3Reply.tag(head.headers["ETag"] ?? "") }
  }

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - verb: The operation.
  ///   - path: The path of the object below the location; nil if the request is for the bucket itself.
  ///   - query: The parameters of the query.
  ///   - headers: Further header fields, which are signed too.
  ///   - body: The body; nil if the request has none.
  /// - Returns: The request.
  /// - Throws: ``LarderError`` when the address is not a URL.
  private func request(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    query: [String: String],
    headers: Headers,
    body: [UInt8]?
  ) throws(LarderError) -> Request {
    let place = path.map { location.key($0) } ?? ""
    // Sort the parameters, and write a `=` after each name. Stores compute the signature from this form, but libcurl
    // before 8.3 signs a query as it is given.
    let parameters = query.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(PercentEncoding.escaped($0.value))" }
    let text = "\(base)/\(place)" + (query.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    var request: Request
    do throws(TransferFailure) {
      request = Request(try transport.parse(text, relativeTo: nil))
    } catch {
      throw LarderError(error, "ask", "\(location)")
    }
    request.signing = RequestSigning(
      verb,
      region: environment.region,
      user: environment.user,
      secret: environment.secret
    )
    request.trust = .named
    request.bodyLimit = Self.replyLimit
    request.accept = .anything
    request.headers = headers
    request.asksForPart = headers.contains("Range")
    let digest = Hexadecimal.text(SHA256.digest(of: body ?? []))
    request.headers.append("x-amz-content-sha256", digest)
    if let token = environment.token { request.credentials.append("x-amz-security-token", token) }
    if let body {
      request.method = .post
      request.isQuery = true
      request.body = body
    }
    return request
  }

  /// Sends a request, and calls `completion` with the reply or the error.
  ///
  /// The message of an error consists of "cannot", the verb in `words`, the name of the object and the reason.
  func ask(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    headers: Headers = Headers(),
    body: [UInt8]? = nil,
    doing words: String,
    completion: @escaping @Sendable (Result<Reply, LarderError>) -> Void
  ) {
    let request: Request
    do throws(LarderError) {
      request = try self.request(verb, path, query: [:], headers: headers, body: body)
    } catch {
      return completion(.failure(error))
    }
    let sink = MemorySink()
    transport.fetch(request, into: sink) { [self] result in
      completion(reply(to: request, path, result, sink, doing: words))
    }
  }

  /// Sends a request, and waits for the reply.
  ///
  /// The message of an error consists of "cannot", the verb in `words`, the name of the object and the reason.
  func answer(
    _ verb: RequestSigning.Verb,
    _ path: String?,
    query: [String: String] = [:],
    headers: Headers = Headers(),
    body: [UInt8]? = nil,
    doing words: String
  ) throws(LarderError) -> Reply {
    let request = try request(verb, path, query: query, headers: headers, body: body)
    let sink = MemorySink()
    let result = transport.result(of: request, into: sink)
    return try reply(to: request, path, result, sink, doing: words).get()
  }

  private func reply(
    to request: Request,
    _ path: String?,
    _ result: Result<Response, TransferFailure>,
    _ sink: MemorySink,
    doing words: String
  ) -> Result<Reply, LarderError> {
    let name = path.map { self.name($0) } ?? "\(location)"
    let isConditional = request.headers.contains("If-None-Match")
    return result.map { Reply(head: $0.head, body: sink.bytes) }
      .mapError { LarderError($0, words, name, isConditional: isConditional) }
      .flatMap { reply in
        guard request.signing?.verb == .put, reply.tag.isEmpty else { return .success(reply) }
        // A proxy that replies with a page of its own has not stored anything.
        let reason = "unexpected reply from the store: it has no ETag"
        return .failure(LarderError(.storeUnfit, "cannot \(words) \(name): \(reason)"))
      }
  }

  // MARK: - Objects

  /// Reads an object into a sink; returns nil if there is no such object.
  ///
  /// - Throws: ``LarderError``.
  func read(_ path: String, into sink: any BodySink) throws(LarderError) -> Response? {
    var request = try request(.get, path, query: [:], headers: Headers(), body: nil)
    request.bodyLimit = ByteCount(Int64.max / 2)
    switch transport.result(of: request, into: sink) {
    case .success(let response): return response
    case .failure(let failure):
      let error = LarderError(failure, "read", name(path))
      if error.code == .objectMissing { return nil }
      throw error
    }
  }

  /// Reads a small object into memory; returns nil if there is no such object.
  package func bytes(of path: String) throws(LarderError) -> [UInt8]? {
    let sink = MemorySink()
    return try read(path, into: sink).map { _ in sink.bytes }
  }

  /// Writes an object in one request.
  ///
  /// If there is an object at this path, it is replaced.
  package func put(_ bytes: [UInt8], to path: String, type: String) throws(LarderError) {
    _ = try answer(.put, path, headers: ["Content-Type": type], body: bytes, doing: "write")
  }

  /// Creates an object, unless there is an object at this path already. (`If-None-Match: *`)
  ///
  /// Afterwards, the stored object is compared with `bytes`:
  ///
  /// - If the store refused the write, this client may still have written the object. The reply to its first attempt
  ///   may have been lost, so that the store refused the second attempt.
  /// - If the store accepted the write, another writer may still have replaced the object. Some stores accept two
  ///   simultaneous writes, and keep only one of the objects.
  ///
  /// For this comparison, different writers must write different bytes.
  ///
  /// - Returns: Whether the stored object has these bytes.
  /// - Throws: ``LarderError``.
  package func create(_ bytes: [UInt8], at path: String, type: String) throws(LarderError) -> Bool
  {
    do throws(LarderError) {
      let headers: Headers = ["Content-Type": type, "If-None-Match": "*"]
      let mine = try answer(.put, path, headers: headers, body: bytes, doing: "write").tag
      let there = try answer(.head, path, doing: "read").tag
      return mine == there
    } catch {
      guard error.code == .objectExists else { throw error }
      if let there = try self.bytes(of: path) { return there == bytes }
      throw LarderError(
        .storeBusy,
        "cannot write \(name(path)): the store refuses it as if it existed already; run it again later"
      )
    }
  }

  /// Removes objects, many at a time.
  ///
  /// Objects that do not exist are ignored.
  package func remove(_ paths: [String]) throws(LarderError) {
    try each(paths) { path, done in
      self.ask(.delete, path, doing: "remove") { done($0.map { _ in }) }
    } failed: {
      $0.code != .objectMissing
    }
  }

  /// Calls `body` for each path, and waits until the work for all paths is complete.
  ///
  /// `body` starts the work for a path, and gets a closure to call when that work has ended. The work is done for at
  /// most 64 paths at the same time. After the first error, no more work is started.
  ///
  /// - Throws: The first error for which `failed` returns true.
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

  /// The maximum number of requests that are sent at the same time.
  private static let atOnce = 64

  // MARK: - Lists

  /// The maximum number of pages of a list, which is enough for a hundred million objects.
  static let mostPages = 100_000
  /// The maximum number of empty pages in a row.
  ///
  /// A store may send some of them after many objects were removed.
  static let mostEmptyPages = 100

  /// Calls `body` with each object below a path, in the order of the keys.
  ///
  /// Each request lists at most a thousand objects. A list counts as endless if the store sends the same token for the
  /// next page twice, too many pages, or too many empty pages in a row.
  func forEach(
    below path: String,
    _ body: (S3Reply.Object) throws(LarderError) -> Void
  ) throws(LarderError) {
    var next: String?
    var (tokens, empty) = (Set<Int>(), 0)
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
      next = page.next
      empty = page.objects.isEmpty ? empty + 1 : 0
      guard next.map({ tokens.insert($0.hashValue).inserted }) ?? true,
        tokens.count < Self.mostPages, empty < Self.mostEmptyPages
      else {
        throw LarderError(
          .storeUnfit,
          "cannot list \(location): the store's list does not end; check AWS_ENDPOINT_URL_S3"
        )
      }
    } while next != nil
  }
}
