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
    selectingHeaders = request.isEmpty ? Headers() : Vary(headers).selected(from: request)
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
    guard validators.mayBeRenewed(by: Validators(notModified)) else { return nil }
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
    let hopByHop = update.combined("Connection")?.split(separator: ",").map {
      $0.filter { $0 != " " }
    }
    return update.merged(into: headers) { line in
      Self.describesBody.contains { line.isNamed($0) }
        || hopByHop?.contains { line.isNamed(text: $0) } == true
    }
  }

  private static let describesBody: [StaticString] = [
    "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type",
    "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
  ]
}

extension Headers {
  /// The fields of `old` as these replace them, without those that `isLeft` names.
  ///
  /// On the raw lines, for a cache renews many thousand responses.
  fileprivate func merged(into old: Headers, except isLeft: (HeaderLines.Line) -> Bool) -> Headers
  {
    let lines = lines.withUnsafeBufferPointer { new in
      old.lines.withUnsafeBufferPointer { old in
        let fresh = HeaderLines(new).filter { !isLeft($0) }
        var lines: [UInt8] = []
        lines.reserveCapacity(old.count + new.count)
        // An age belongs to the response that carried it.
        for line in HeaderLines(old) where !line.isNamed("Age") {
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
}
