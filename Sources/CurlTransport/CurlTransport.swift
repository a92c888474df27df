import Base
import CCurl
import Glibc
import Synchronization
import Transport

/// Fetches with libcurl: one transfer thread, many connections.
///
/// Methods and completions may run on any thread. Apart from name resolution, only the transfer thread works, and it
/// sleeps when there is nothing to do.
package final class CurlTransport: Fetching {
  private let core: TransferCore
  private let thread: TransferThread

  /// Starts the transfer thread.
  ///
  /// - Parameter options: The limits and settings of the run.
  /// - Throws: ``TransferFailure`` when there is no memory or thread, or no usable libcurl.
  package init(_ options: TransportOptions = TransportOptions()) throws(TransferFailure) {
    guard Self.isLibraryReady else {
      throw Self.absence.map { TransferFailure(reason: .libraryRefused, url: "", detail: $0) }
        ?? Self.unavailable("libcurl cannot be initialized")
    }
    if let shortcoming = Self.version.shortcoming(of: "libcurl", needed: Self.needed) {
      throw TransferFailure(reason: .libraryRefused, url: "", detail: shortcoming)
    }
    do {
      core = try TransferCore(options)
    } catch is OutOfDescriptors {
      throw Self.unavailable("the system has no free file descriptor")
    } catch let refused as RefusedMultiOption where refused.code != CURLM_OUT_OF_MEMORY {
      throw TransferFailure(reason: .libraryRefused, url: "", detail: refused.words)
    } catch {
      throw Self.unavailable("libcurl has too little memory")
    }
    guard let thread = TransferThread(core) else {
      throw Self.unavailable("the system cannot start a thread")
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

  /// The fields that a request sends; see ``Fetching``.
  package func fields(of request: Request) -> Headers {
    let key = HeaderKey(request)
    var fields = key.fields(userAgent: core.options.userAgent)
    // libcurl names all codings that it can decode, the same in every request.
    if key.codings == "", !fields.contains("Accept-Encoding") {
      fields.append("Accept-Encoding", "*")
    }
    return fields
  }

  /// The transfers under way; callable from any thread.
  package var activity: TransferActivity { core.tally.activity }

  /// Completes every unfinished request as cancelled; see ``Fetching``.
  package func cancelAll() {
    if case .mustWake = core.inbox.cancelAll() { core.multi.wake() }
  }

  /// Cancels every request, and waits for the transfer thread to end; called automatically when the last reference to
  /// the transport is released.
  ///
  /// A later `fetch` completes at once as cancelled, on the caller's thread.
  package func shutdown() {
    if case .mustWake = core.inbox.close() { core.multi.wake() }
    thread.join()
  }

  /// The reason why libcurl could not be opened, with a remedy; nil if it was opened, or if no call has needed it
  /// yet.
  package static var absence: String? {
    larder_curl_failure().map {
      "libcurl cannot be opened: \(String(cString: $0)); install it (Debian: libcurl4)"
    }
  }

  /// The version of the loaded libcurl, which may be older than the one that larder was built with.
  private static let version = LibraryVersion(
    bits: larder_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0
  )
  /// The first version of libcurl with every option that larder uses: CURLOPT_PROTOCOLS_STR came with 7.85.0,
  /// CURLOPT_QUICK_EXIT with 7.87.0.
  static let needed = LibraryVersion(7, 87, 0)

  /// The loaded libcurl: its version, the version of its TLS library if it has one, and the path of its CA
  /// certificates; nil if libcurl cannot be opened.
  package static var library: (version: String, tls: String?, trust: String?)? {
    guard let info = larder_version_info(CURLVERSION_SEVENTH)?.pointee else { return nil }
    return (
      "\(version)", info.ssl_version.map { String(cString: $0) },
      // `cainfo` exists since 7.70.0, and older versions are refused.
      info.cainfo.map { String(cString: $0) }
    )
  }

  /// Whether libcurl's global initialization succeeded.
  ///
  /// It runs once in a process and is never undone.
  private static let isLibraryReady = larder_global_init() == CURLE_OK

  private static func unavailable(_ detail: String) -> TransferFailure {
    TransferFailure(reason: .outOfMemory, url: "", detail: detail)
  }
}

/// The state that the transfer thread shares with its callers.
final class TransferCore: Sendable {
  let options: TransportOptions
  let inbox = Inbox()
  let tally = ActivityTally()
  let multi: MultiHandle

  init(_ options: TransportOptions) throws {
    self.options = options
    multi = try MultiHandle()
    try multi.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    // Keep one connection for each transfer that may run, and 64 more for hosts that are idle at the moment.
    try multi.set(CURLMOPT_MAXCONNECTS, 64 + 2 * options.scheduleLimits.parallel)
  }
}

/// The thread that runs the loop; it is joined exactly once.
final class TransferThread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Starts the thread with every signal blocked.
  ///
  /// Signals belong to the rest of the program, and SIGPIPE must not kill it when OpenSSL writes to a closed
  /// connection.
  init?(_ core: TransferCore) {
    var thread = pthread_t()
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    // SAFETY: the retain here is balanced by `takeRetainedValue` in the thread, or below if the thread cannot start.
    let context = Unmanaged.passRetained(core)
    let code = pthread_create(
      &thread,
      nil,
      { context in
        guard let context else { return nil }
        larder_name_thread("larder-transfer")
        let core = Unmanaged<TransferCore>.fromOpaque(context).takeRetainedValue()
        TransferLoop(core).run()
        return nil
      },
      context.toOpaque()
    )
    pthread_sigmask(SIG_SETMASK, &former, nil)
    guard code == 0 else {
      context.release()
      return nil
    }
    handle = Mutex(thread)
  }

  /// Waits for the thread to end.
  ///
  /// If called on the thread itself, for example when a completion releases the last reference, only detaches the
  /// thread.
  func join() {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let thread else { return }
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }
}

/// The messages from other threads to the transfer thread, and whether that thread has to be woken to read them.
final class Inbox: Sendable {
  /// The messages that were posted since the loop last took them.
  struct Mail: Sendable {
    /// Transfers to start, in the order of submission.
    var submitted: [Transfer] = []
    /// Transfers that were cancelled before the loop read them.
    var cancelled: [Transfer] = []
    /// Names that were resolved, with their addresses.
    var names: [(host: String, addresses: [IPAddress])] = []
    /// Whether to cancel every unfinished request.
    var cancelsAll = false
    /// Whether to end the loop.
    var stops = false

    var isEmpty: Bool { submitted.isEmpty && names.isEmpty && !cancelsAll && !stops }

    mutating func cancelAll() {
      cancelsAll = true
      cancelled.append(contentsOf: submitted)
      submitted.removeAll()
    }
  }

  struct Mailbox: Sendable {
    var mail = Mail()
    var isLoopAsleep = false
    var isClosed = false
  }

  private let state = Mutex(Mailbox())

  /// The next step for a caller that has posted a message.
  enum Receipt {
    case posted
    case mustWake
    case closed
  }

  func submit(_ transfer: Transfer) -> Receipt {
    post { $0.submitted.append(transfer) }
  }

  func note(_ addresses: [IPAddress], of host: String) -> Receipt {
    post { $0.names.append((host, addresses)) }
  }

  func cancelAll() -> Receipt {
    post { $0.cancelAll() }
  }

  /// Accepts no further messages, and cancels the submitted requests.
  func close() -> Receipt {
    // Do both in one step: between two steps, the loop could fall asleep and miss the second.
    post(closing: true) {
      $0.cancelAll()
      $0.stops = true
    }
  }

  /// Takes the messages; if there are none and `orSleep` is true, records that the loop is about to sleep.
  func collect(orSleep: Bool) -> Mail {
    state.withLock { state in
      state.isLoopAsleep = orSleep && state.mail.isEmpty
      guard !state.mail.isEmpty else { return Mail() }
      let mail = state.mail
      state.mail = Mail()
      return mail
    }
  }

  private func post(closing: Bool = false, _ body: (inout Mail) -> Void) -> Receipt {
    state.withLock { state in
      guard !state.isClosed else { return .closed }
      body(&state.mail)
      state.isClosed = closing
      guard state.isLoopAsleep else { return .posted }
      // One wake-up is enough for everything that is posted until the loop reads it.
      state.isLoopAsleep = false
      return .mustWake
    }
  }
}

/// Counts the requests under way, for other threads to read.
///
/// Only the transfer thread counts: a few times for each request, not for each byte, and without a lock.
final class ActivityTally: Sendable {
  /// The counter of one host: the number of requests under way that were last sent to it.
  final class Host: Sendable {
    let name: String
    private let requests = Atomic<Int>(0)

    init(_ name: String) { self.name = name }

    var count: Int { requests.load(ordering: .relaxed) }

    func add(_ count: Int) { requests.wrappingAdd(count, ordering: .relaxed) }
  }

  private let hosts = Mutex<[Host]>([])
  private let retrying = Atomic<Int>(0)

  /// Makes the counter of a new host.
  func addHost(_ url: WebURL) -> Host {
    let host = Host(url.shownHost)
    hosts.withLock { $0.append(host) }
    return host
  }

  /// Adds to the number of requests that are being retried; `count` may be negative.
  func addRetrying(_ count: Int) { retrying.wrappingAdd(count, ordering: .relaxed) }

  /// The transfers under way.
  ///
  /// Each count is correct, but a request may move to another host while the counts are read.
  var activity: TransferActivity {
    let hosts = hosts.withLock { $0 }
    return TransferActivity(
      retrying: retrying.load(ordering: .relaxed),
      underWay: hosts.lazy.map { ($0.name, $0.count) }
    )
  }
}
