import Base

/// A response in a cache, without its body. (RFC 9111, section 3)
package struct StoredResponse: Hashable, Sendable {
  /// The status code.
  package let status: Int
  /// The header fields.
  ///
  /// Each 304 response updates them.
  package let headers: Headers
  /// The time of the request that fetched the response, or of the last request that revalidated it.
  package let requestTime: UnixTime
  /// The time at which the response to that request was received.
  package let responseTime: UnixTime
  /// The redirects that led to this response.
  ///
  /// Nil if there were no redirects.
  package let path: Path?
  /// A digest of the request's header fields that `Vary` names.
  ///
  /// Nil if `Vary` names no field, or if the request's fields are not known.
  package let selection: Int64?
  /// A digest of the credentials in the request, or 0 if the request had none.
  ///
  /// Nil if the response can be used for requests with other credentials.
  package let owner: Int64?

  /// The redirects that led to a response.
  package struct Path: Hashable, Sendable {
    /// The resource that sent the final response.
    ///
    /// See ``WebURL/resource``.
    package let source: String
    /// The time at which the first of the redirects stops being fresh.
    package let expiry: UnixTime

    /// Makes a path.
    package init(source: String, expiry: UnixTime) {
      self.source = source
      self.expiry = expiry
    }
  }

  /// Makes a response from the parts that a cache stored.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - requestTime: The time of the request.
  ///   - responseTime: The time of the response. If it is earlier than `requestTime`, `requestTime` is used instead.
  ///   - path: The redirects that led to the response, or nil if there were none.
  ///   - selection: A digest of the variables in the request's URL and of its header fields that `Vary` names.
  ///   - owner: A digest of the credentials in the request.
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

  /// The names of the header fields that caches store.
  ///
  /// The decisions about freshness and conditional requests need no others.
  package static let kept = [
    "ETag", "Last-Modified", "Date", "Age", "Expires", "Cache-Control", "Vary",
  ]

  /// Makes a stored response from a received response.
  ///
  /// - Parameters:
  ///   - head: The head of the received response.
  ///   - status: The status to store, or nil to store the status of `head`. If `head` is from a 304, pass the status
  ///     of the response that the 304 refers to.
  ///   - old: The stored header fields of that response.
  ///   - requestTime: The time of the request.
  ///   - responseTime: The time of the response.
  ///   - traits: The header fields of the request.
  package init(
    _ head: ResponseHead,
    status: Int? = nil,
    renewing old: Headers = Headers(),
    requestTime: UnixTime,
    responseTime: UnixTime,
    traits: CacheKeyFields? = nil
  ) {
    let update = head.headers.endToEnd.only(Self.kept)
    // `Age` and `Date` are about the time of the old response. If the 304 has no `Date`, the time of its arrival is
    // used instead. (RFC 9111, section 3.2)
    var headers = old.only(
      Self.kept.filter { $0 != "Age" && $0 != "Date" && !update.contains($0) }
    )
    headers.append(update)
    // The fields that selected a redirect also selected the final response. So their names are added to the `Vary`
    // field. There is only one such field, so that it does not grow with each 304.
    let hops = head.redirects.flatMap { $0.headers.all("Vary") }
    for value in hops { headers.append("Vary", value) }
    if !hops.isEmpty { headers["Vary"] = Vary(headers).text }
    let expiries = head.redirects.map { redirect in
      StoredResponse(
        status: redirect.status,
        headers: redirect.headers.endToEnd,
        requestTime: requestTime,
        responseTime: responseTime
      ).expiry
    }
    self.init(
      status: status ?? head.status,
      headers: headers,
      requestTime: requestTime,
      responseTime: responseTime,
      path: expiries.min().map { Path(source: head.url.resource, expiry: $0) },
      selection: traits?.selection(by: Vary(headers)),
      owner: CacheControl(headers).isPublic ? nil : traits?.owner
    )
  }

  /// The `ETag` and the `Last-Modified` date of the response. (RFC 9110, section 8.8)
  package var validators: Validators { Validators(headers) }

  /// The condition for a request that asks whether this version is current, or nil if there are no validators.
  package var condition: Condition? {
    let validators = validators
    return validators.isEmpty ? nil : Condition(validators, source: path?.source)
  }

  /// A copy of this response with the header fields and times of a 304. (RFC 9111, section 4.3.4)
  ///
  /// - Parameters:
  ///   - notModified: The head of the 304.
  ///   - requestTime: The time of the conditional request.
  ///   - responseTime: The time at which the 304 was received.
  ///   - traits: The header fields of the conditional request.
  /// - Returns: The copy, or nil if the 304 refers to another version.
  package func renewed(
    by notModified: ResponseHead,
    requestTime: UnixTime,
    responseTime: UnixTime,
    traits: CacheKeyFields? = nil
  ) -> StoredResponse? {
    guard validators.mayBeRenewed(by: Validators(notModified.headers.endToEnd)) else { return nil }
    return StoredResponse(
      notModified,
      status: status,
      renewing: headers,
      requestTime: requestTime,
      responseTime: responseTime,
      traits: traits
    )
  }

  /// Whether the response can be used for a request with these header fields. (RFC 9111, sections 3.5 and 4.1)
  ///
  /// A response to a request with other credentials can be used only if it is public.
  package func answers(_ traits: CacheKeyFields?) -> Bool {
    guard let traits else { return true }
    if let owner, owner != traits.owner { return false }
    return selection.map { $0 == traits.selection(by: Vary(headers)) } ?? true
  }
}

/// The `Vary` field, which names the request's header fields that the response depends on. (RFC 9110, section 12.5.5)
///
/// For example, `Vary: Accept-Language` means that a request with another language may get another response.
package struct Vary: Hashable, Sendable {
  /// Whether the field contains `*`.
  ///
  /// Then the response must not be used for any other request. (RFC 9111, section 4.1)
  package let isAnything: Bool
  /// The names of the header fields, in lower case.
  package let names: Set<String>

  /// Reads all `Vary` fields.
  package init(_ headers: Headers) {
    let members = headers.all("Vary").joined(separator: ",").split(separator: ",").map { member in
      String(member.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
    isAnything = members.contains("*")
    names = Set(members.filter { !$0.isEmpty && $0 != "*" })
  }

  /// The value of a field with this meaning, for example `accept, accept-language`.
  var text: String { isAnything ? "*" : names.sorted().joined(separator: ", ") }

  /// The values that a request has in the fields that `Vary` names.
  ///
  /// Two requests get the same response if the results are equal.
  ///
  /// The result has a line such as `accept-language:ko` for each name, or only the name if the request lacks the field.
  /// It is empty if `Vary` names no field.
  package func selection(from request: Headers) -> [UInt8] {
    var selection: [UInt8] = []
    for name in names.sorted() {
      let value = request.combined(name)
      selection += Array("\(name)\(value == nil ? "" : ":")\(value ?? "")\n".utf8)
    }
    return selection
  }
}

/// Those values of a request on which its response can depend: header fields, and variables in the URL.
///
/// A cache compares them with the values of another request.
///
/// A cache stores only digests of these fields, so that no secret is written to a file or database.
package struct CacheKeyFields: Sendable {
  /// The fields that the request sends to its first host, including the credentials.
  package let fields: Headers
  /// A digest of the credentials, or 0 if there are none.
  package let owner: Int64
  private let variables: [UInt8]
  private let digest: @Sendable ([UInt8]) -> Int64

  /// Makes the fields of a request.
  ///
  /// - Parameters:
  ///   - fields: All fields that the request sends, including the credentials.
  ///   - credentials: The fields that identify the user.
  ///   - variables: The values of the variables in the URL, because the cache knows a URL without these values.
  ///   - digest: Computes a digest of bytes. It must be a one-way function, and must never return 0.
  package init(
    fields: Headers,
    credentials: Headers = Headers(),
    variables: [UInt8] = [],
    digest: @escaping @Sendable ([UInt8]) -> Int64
  ) {
    self.fields = fields
    self.variables = variables
    self.digest = digest
    owner = credentials.isEmpty ? 0 : digest(credentials.lines)
  }

  /// A digest of the variables and of the fields that `vary` names, or nil if there are none.
  func selection(by vary: Vary) -> Int64? {
    let selected = vary.selection(from: fields) + variables
    return selected.isEmpty ? nil : digest(selected)
  }
}
