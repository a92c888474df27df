/// A response as a cache keeps it, without its body. (RFC 9111, section 3)
public struct StoredResponse: Hashable, Sendable {
  /// The status code.
  public let status: Int
  /// The header fields, as updated by 304 responses.
  public let headers: Headers
  /// When the request that brought or confirmed it was sent.
  public let requestTime: UnixTime
  /// When the response came.
  public let responseTime: UnixTime
  /// The request's fields that `Vary` names; see ``Vary/selected(from:)``.
  public let selectingHeaders: Headers

  /// Makes a stored response.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - requestTime: When the request was sent.
  ///   - responseTime: When the response came; an earlier one than `requestTime` counts as the same.
  ///   - request: The request's own fields, of which those that `Vary` names are kept.
  public init(
    status: Int,
    headers: Headers,
    requestTime: UnixTime,
    responseTime: UnixTime,
    request: Headers = Headers()
  ) {
    self.status = status
    self.headers = headers
    self.requestTime = requestTime
    self.responseTime = max(requestTime, responseTime)
    selectingHeaders = Vary(headers).selected(from: request)
  }

  /// What a server may be asked with.
  public var validators: Validators { Validators(headers) }

  /// The response as a 304 renews it; nil when the 304 speaks of another version. (RFC 9111, section 4.3.4)
  ///
  /// - Parameters:
  ///   - notModified: The fields of the 304.
  ///   - requestTime: When the conditional request was sent.
  ///   - responseTime: When the 304 came.
  ///   - request: The conditional request's own fields.
  /// - Returns: The same body with renewed fields and times.
  public func renewed(
    by notModified: Headers,
    requestTime: UnixTime,
    responseTime: UnixTime,
    request: Headers = Headers()
  ) -> StoredResponse? {
    let new = Validators(notModified)
    if let newTag = new.entityTag.flatMap(EntityTag.init) {
      guard let tag = validators.entityTag.flatMap(EntityTag.init) else { return nil }
      guard newTag.isEquivalent(to: tag) else { return nil }
    } else if let modified = new.lastModified, let held = validators.lastModified {
      guard modified == held else { return nil }
    }
    return StoredResponse(
      status: status,
      headers: merged(notModified),
      requestTime: requestTime,
      responseTime: responseTime,
      request: request
    )
  }

  /// Replaces what the 304 repeats, but for what describes the body that is kept. (RFC 9111, section 3.2)
  private func merged(_ update: Headers) -> Headers {
    let hopByHop = (update.combined("Connection") ?? "").lowercased().split(separator: ",").map {
      String($0.filter { $0 != " " })
    }
    let kept: Set<String> = [
      "connection", "content-encoding", "content-length", "content-range", "content-type",
      "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    let fresh = update.fields.filter {
      let name = $0.name.lowercased()
      return !kept.contains(name) && !hopByHop.contains(name)
    }
    let replaced = Set(fresh.map { $0.name.lowercased() })
    // An age belongs to the response that carried it.
    let old = headers.fields.filter {
      let name = $0.name.lowercased()
      return !replaced.contains(name) && name != "age"
    }
    return Headers(old + fresh)
  }
}
