/// What a request sends that may decide its answer, for a cache to compare with what another one sent.
///
/// What is kept of it are digests, so that no secret reaches a file or database.
package struct RequestTraits: Sendable {
  /// The fields that the request sends to its first host, whoever adds them.
  package let fields: Headers
  /// The digest of the fields that say who asks; 0 when there are none.
  package let owner: Int64
  private let digest: @Sendable ([UInt8]) -> Int64

  /// Describes a request.
  ///
  /// - Parameters:
  ///   - fields: All that it sends, credentials included.
  ///   - credentials: Those fields that say who asks.
  ///   - digest: A digest from which the bytes cannot be found; never 0.
  package init(
    fields: Headers,
    credentials: Headers = Headers(),
    digest: @escaping @Sendable ([UInt8]) -> Int64
  ) {
    self.fields = fields
    self.digest = digest
    owner = credentials.isEmpty ? 0 : digest(credentials.lines)
  }

  /// The digest of what these names select; nil when they select nothing.
  func selection(by vary: Vary) -> Int64? {
    let selected = vary.selection(from: fields)
    return selected.isEmpty ? nil : digest(selected)
  }
}
