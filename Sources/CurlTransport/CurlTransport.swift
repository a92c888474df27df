import CCurl
import Transport

/// Fetches with libcurl: one thread, many connections.
///
/// Methods may be called from any thread, completions included. Name resolution aside, nothing runs but that one
/// thread, and it sleeps when there is nothing to do.
package final class CurlTransport: Fetching {
  private let core: TransferCore
  private let thread: TransferThread

  /// Starts the transfer thread.
  ///
  /// - Parameter options: How the run behaves.
  /// - Throws: ``TransferFailure`` when this machine gives no memory or no thread, or has no libcurl that can be used.
  package init(_ options: TransportOptions = TransportOptions()) throws(TransferFailure) {
    guard Self.isLibraryReady else {
      throw Self.absence.map { TransferFailure(reason: .libraryRefused, url: "", detail: $0) }
        ?? Self.unavailable("libcurl does not start")
    }
    if let shortcoming = Self.version.shortcoming(of: "libcurl", needed: Self.needed) {
      throw TransferFailure(reason: .libraryRefused, url: "", detail: shortcoming)
    }
    do {
      core = try TransferCore(options)
    } catch is OutOfDescriptors {
      throw Self.unavailable("the system gives no descriptor to wait with")
    } catch let refused as RefusedMultiOption where refused.code != CURLM_OUT_OF_MEMORY {
      throw TransferFailure(reason: .libraryRefused, url: "", detail: refused.words)
    } catch {
      throw Self.unavailable("libcurl has no memory")
    }
    guard let thread = TransferThread(core) else {
      throw Self.unavailable("the system gives no thread")
    }
    self.thread = thread
  }

  deinit { shutdown() }

  /// Queues a transfer; see ``Fetching``.
  package func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let transfer = Transfer(request, sink, completion)
    switch core.inbox.submit(transfer) {
    case .posted: break
    case .mustWake: core.multi.wake()
    case .closed: transfer.complete(.failure(transfer.failure(.cancelled)))
    }
  }

  /// Parses a URL; see ``URLParsing``.
  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try CurlURLParser.parse(text, relativeTo: base)
  }

  /// What a request sends; see ``Fetching``.
  package func fields(of request: Request) -> Headers {
    let key = HeaderKey(request)
    var fields = key.fields(userAgent: core.options.userAgent)
    // libcurl names all that it can decode, the same in every request.
    if key.codings == "", !fields.contains("Accept-Encoding") {
      fields.append("Accept-Encoding", "*")
    }
    return fields
  }

  /// What is under way now; from any thread.
  package var activity: TransferActivity { core.tally.activity }

  /// Completes everything unfinished as cancelled; see ``Fetching``.
  package func cancelAll() {
    if case .mustWake = core.inbox.cancelAll() { core.multi.wake() }
  }

  /// Cancels everything and waits for the transfer thread to end; happens by itself when the last reference goes.
  ///
  /// A `fetch` after that completes at once, on the caller's thread, as cancelled.
  package func shutdown() {
    if case .mustWake = core.inbox.close() { core.multi.wake() }
    thread.join()
  }

  /// Why libcurl could not be opened, and what to do; nil where it could, or nothing has needed it yet.
  package static var absence: String? {
    larder_curl_failure().map {
      "libcurl cannot be opened: \(String(cString: $0)); install it (Debian: libcurl4)"
    }
  }

  /// The libcurl that was opened, which may be older than the one it was built with.
  private static let version = LibraryVersion(
    bits: larder_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0
  )
  /// The first that knows every option that is set: CURLOPT_PROTOCOLS_STR came with 7.85.0,
  /// CURLOPT_QUICK_EXIT with 7.87.0.
  static let needed = LibraryVersion(7, 87, 0)

  /// What libcurl says of itself: its version, that of its TLS library if it has one, and where it looks for the
  /// certificates to trust; nil where it cannot be opened.
  package static var library: (version: String, tls: String?, trust: String?)? {
    guard let info = larder_version_info(CURLVERSION_SEVENTH)?.pointee else { return nil }
    return (
      "\(version)", info.ssl_version.map { String(cString: $0) },
      // Since 7.70.0, and older ones are refused.
      info.cainfo.map { String(cString: $0) }
    )
  }

  /// libcurl's own set-up, once a process; needs no counterpart since the process keeps it to its end.
  private static let isLibraryReady = larder_global_init() == CURLE_OK

  private static func unavailable(_ detail: String) -> TransferFailure {
    TransferFailure(reason: .outOfMemory, url: "", detail: detail)
  }
}
