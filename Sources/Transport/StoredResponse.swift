import Base

/// A response as a cache keeps it, without its body. (RFC 9111, section 3)
package struct StoredResponse: Hashable, Sendable {
  /// The status code.
  package let status: Int
  /// The header fields, as updated by 304 responses.
  package let headers: Headers
  /// When the request that fetched or last revalidated the response was sent.
  package let requestTime: UnixTime
  /// When the response was received.
  package let responseTime: UnixTime
  /// The resource that sent the response, and when the redirects to that resource expire; nil without redirects.
  package let path: Path?
  /// The digest of the request fields that `Vary` names; nil when it names none, or they are not known.
  package let selection: Int64?
  /// The digest of the credentials in the request, 0 without credentials; nil when the response is public.
  package let owner: Int64?

  /// The redirects that led to a response.
  package struct Path: Hashable, Sendable {
    /// The resource that answered; see ``WebURL/resource``.
    package let source: String
    /// The earliest time at which one of the redirects becomes stale.
    package let expiry: UnixTime

    /// Makes a path.
    package init(source: String, expiry: UnixTime) {
      self.source = source
      self.expiry = expiry
    }
  }

  /// Makes a stored response from its parts, as a cache reads it back.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - requestTime: When the request was sent.
  ///   - responseTime: When the response was received; a time before `requestTime` counts as equal to it.
  ///   - path: The redirects that led to the response, if any.
  ///   - selection: The digest of the request fields that selected it.
  ///   - owner: The digest of the credentials in its request.
  package init(
    status: Int,
    headers: Headers,
    requestTime: UnixTime,
    responseTime: UnixTime,
    path: Path? = nil,
    selection: Int64? = nil,
    owner: Int64? = nil
  ) {
    self.status = status
    self.headers = headers
    self.requestTime = requestTime
    self.responseTime = max(requestTime, responseTime)
    self.path = path
    self.selection = selection
    self.owner = owner
  }

  /// Makes a stored response from a received one.
  ///
  /// - Parameters:
  ///   - head: Its head, and the redirects that led to it.
  ///   - status: The status to store; nil for the status of `head`. If `head` is that of a 304, pass the status of
  ///     the stored response.
  ///   - names: The header fields to keep; nil keeps all.
  ///   - requestTime: When the request was sent.
  ///   - responseTime: When the response was received.
  ///   - traits: The fields that the request sent.
  package init(
    _ head: ResponseHead,
    status: Int? = nil,
    keeping names: [StaticString]? = nil,
    requestTime: UnixTime,
    responseTime: UnixTime,
    traits: CacheKeyFields? = nil
  ) {
    var headers = head.headers.endToEnd
    if let names { headers = headers.only(names) }
    self.init(
      status: status ?? head.status,
      headers: headers,
      redirects: head.redirects,
      source: head.url,
      requestTime: requestTime,
      responseTime: max(requestTime, responseTime),
      traits: traits
    )
  }

  private init(
    status: Int,
    headers: Headers,
    redirects: [Redirect],
    source: WebURL,
    requestTime: UnixTime,
    responseTime: UnixTime,
    traits: CacheKeyFields?
  ) {
    var headers = headers
    // Fields that selected a redirect also selected the response. They are joined into one `Vary` field, which does
    // not grow with each renewal.
    let hops = redirects.flatMap { $0.headers.all("Vary") }
    if !hops.isEmpty { headers["Vary"] = Vary(headers).joined(by: hops).text }
    let expiries = redirects.map { redirect in
      StoredResponse(
        status: redirect.status,
        headers: redirect.headers.endToEnd,
        requestTime: requestTime,
        responseTime: responseTime
      ).expiry
    }
    self.init(
      status: status,
      headers: headers,
      requestTime: requestTime,
      responseTime: responseTime,
      path: expiries.min().map { Path(source: source.resource, expiry: $0) },
      selection: traits?.selection(by: Vary(headers)),
      owner: CacheControl(headers).isPublic ? nil : traits?.owner
    )
  }

  /// Validators for a conditional request: ETag and Last-Modified. (RFC 9110, section 8.8)
  package var validators: Validators { Validators(headers) }

  /// The condition of a conditional request; nil if there are no validators.
  package var condition: Condition? {
    let validators = validators
    return validators.isEmpty ? nil : Condition(validators, source: path?.source)
  }

  /// The response renewed by a 304; nil when the 304 refers to another version. (RFC 9111, section 4.3.4)
  ///
  /// - Parameters:
  ///   - notModified: The head of the 304, and the redirects that led to it.
  ///   - names: The header fields to keep; nil keeps all.
  ///   - requestTime: When the conditional request was sent.
  ///   - responseTime: When the 304 was received.
  ///   - traits: The fields that the conditional request sent.
  /// - Returns: The same body with renewed fields and times.
  package func renewed(
    by notModified: ResponseHead,
    keeping names: [StaticString]? = nil,
    requestTime: UnixTime,
    responseTime: UnixTime,
    traits: CacheKeyFields? = nil
  ) -> StoredResponse? {
    var update = notModified.headers.endToEnd
    if let names { update = update.only(names) }
    guard validators.mayBeRenewed(by: Validators(update)) else { return nil }
    return StoredResponse(
      status: status,
      headers: update.merged(into: headers),
      redirects: notModified.redirects,
      source: notModified.url,
      requestTime: requestTime,
      responseTime: max(requestTime, responseTime),
      traits: traits
    )
  }

  /// Whether the response may answer a request with these fields. (RFC 9111, sections 3.5 and 4.1)
  ///
  /// A response to a request with other credentials may not, unless it is public.
  package func answers(_ traits: CacheKeyFields?) -> Bool {
    guard let traits else { return true }
    if let owner, owner != traits.owner { return false }
    return selection.map { $0 == traits.selection(by: Vary(headers)) } ?? true
  }
}

extension Headers {
  /// The fields of `old`, replaced by those of a 304, except fields that describe the kept body.
  ///
  /// The merge works on the raw lines, because a cache renews many thousand responses. (RFC 9111, section 3.2)
  fileprivate func merged(into old: Headers) -> Headers {
    let lines = lines.withUnsafeBufferPointer { new in
      old.lines.withUnsafeBufferPointer { old in
        let fresh = HeaderLines(new).filter { line in
          !Self.describesBody.contains { line.isNamed($0) }
        }
        var lines: [UInt8] = []
        lines.reserveCapacity(old.count + new.count)
        for line in HeaderLines(old) {
          // `Age` and `Date` belong to the response that carried them. A 304 without a date is dated by its arrival.
          if line.isNamed("Age") || line.isNamed("Date") { continue }
          let name = UnsafeBufferPointer(rebasing: old[line.name])
          let isReplaced = fresh.contains { $0.isNamed(name) }
          if !isReplaced { line.append(to: &lines) }
        }
        for line in fresh { line.append(to: &lines) }
        return lines
      }
    }
    return Headers(lines: lines)
  }

  private static let describesBody: [StaticString] = [
    "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type",
    "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
  ]
}

/// The `Vary` field: the request fields that selected a response. (RFC 9110, section 12.5.5)
package struct Vary: Hashable, Sendable {
  /// Whether something other than the request's fields selected the response (`*`), so that no other request matches.
  /// (RFC 9111, section 4.1)
  package let isAnything: Bool
  /// Field names in lower case.
  package let names: Set<String>

  /// Reads all `Vary` fields.
  package init(_ headers: Headers) {
    guard let value = headers.combined("Vary") else {
      (isAnything, names) = (false, [])
      return
    }
    let members = value.split(separator: ",").map { member in
      String(member.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
    isAnything = members.contains("*")
    names = Set(members.filter { !$0.isEmpty && $0 != "*" })
  }

  private init(isAnything: Bool, names: Set<String>) {
    self.isAnything = isAnything
    self.names = names
  }

  /// The request fields that selected a response after redirects.
  ///
  /// - Parameter values: The values of the redirects' `Vary` fields.
  /// - Returns: The names in this field and in `values`.
  func joined(by values: [String]) -> Vary {
    let other = Vary(Headers(values.map { HeaderField(name: "Vary", value: $0) }))
    return Vary(isAnything: isAnything || other.isAnything, names: names.union(other.names))
  }

  /// The value of one `Vary` field with the same meaning.
  var text: String { isAnything ? "*" : names.sorted().joined(separator: ", ") }

  /// The values of the request fields that `Vary` names, as bytes: two requests get the same response if these bytes
  /// are equal.
  ///
  /// The fields are in a fixed order, each with its value or marked as absent. The result is empty when `Vary` names
  /// no field.
  package func selection(from request: Headers) -> [UInt8] {
    var selection: [UInt8] = []
    for name in names.sorted() {
      let value = Self.normalized(request, name)
      selection += Array("\(name)\(value == nil ? "" : ":")\(value ?? "")\n".utf8)
    }
    return selection
  }

  /// The value with each run of white space replaced by one space, as RFC 9111, section 4.1, allows.
  private static func normalized(_ headers: Headers, _ name: String) -> String? {
    headers.combined(name).map { value in
      value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
  }
}

/// The fields of a request that may select its response, for a cache to compare with another request.
///
/// A cache stores only digests of these fields, so that no secret reaches a file or database.
package struct CacheKeyFields: Sendable {
  /// The fields that the request sends to its first host, from all sources.
  package let fields: Headers
  /// The digest of the credentials; 0 when there are none.
  package let owner: Int64
  private let digest: @Sendable ([UInt8]) -> Int64

  /// Describes a request.
  ///
  /// - Parameters:
  ///   - fields: All fields that the request sends, credentials included.
  ///   - credentials: The fields that identify the requester.
  ///   - digest: A one-way digest of bytes; never 0.
  package init(
    fields: Headers,
    credentials: Headers = Headers(),
    digest: @escaping @Sendable ([UInt8]) -> Int64
  ) {
    self.fields = fields
    self.digest = digest
    owner = credentials.isEmpty ? 0 : digest(credentials.lines)
  }

  /// The digest of the fields with these names; nil if the names select nothing.
  func selection(by vary: Vary) -> Int64? {
    let selected = vary.selection(from: fields)
    return selected.isEmpty ? nil : digest(selected)
  }
}
