/// Fetches resources, many at a time.
public protocol Fetching: Sendable {
  /// Starts, or queues, a transfer into `sink`.
  ///
  /// `completion` runs on the transfer thread exactly once, whatever happens: be quick there too. It may call
  /// `fetch`. Status 200 to 299 and 304 succeed; any other final status is a failure `http-NNN`.
  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  )

  /// Completes everything unfinished with the reason `cancelled`, soon and on the transfer thread.
  func cancelAll()
}
