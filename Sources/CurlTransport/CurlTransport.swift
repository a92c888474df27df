import Base
import CCurl
import Glibc
import Synchronization
import Transport

/// A transport that sends requests with libcurl.
///
/// One thread, the transfer thread, carries out all transfers, with many connections. It sleeps while there is nothing
/// to do. Only names are resolved on other threads. The methods can be called on any thread.
package final class CurlTransport: Fetching {
  private let core: TransferCore
  private let thread: TransferThread

  /// Starts the transfer thread.
  ///
  /// - Parameter options: The limits and settings of the transport.
  /// - Throws: ``TransferFailure`` if libcurl is missing, too old or unusable, or if there is not enough memory, or
  ///   no thread can be started.
  package init(_ options: TransportOptions = TransportOptions()) throws(TransferFailure) {
    guard Self.isLibraryReady else {
      throw Self.absence.map { .unfit($0) } ?? .unavailable("libcurl cannot be initialized")
    }
    if let shortcoming = Self.version.shortcoming(of: "libcurl", needed: Self.needed) {
      throw .unfit(shortcoming)
    }
    core = try TransferCore(options)
    thread = try TransferThread(core)
  }

  deinit { shutdown() }

  /// Queues a transfer.
  ///
  /// See ``Fetching``.
  package func fetch(_ request: Request, into sink: any BodySink, completion: @escaping Callback) {
    let transfer = Transfer(request, sink, completion)
    if !core.post({ $0.submitted.append(transfer) }) {
      transfer.complete(.failure(transfer.failure(.cancelled)))
    }
  }

  /// Parses a URL.
  ///
  /// See ``URLParsing``.
  package func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try CurlURLParser().parse(text, relativeTo: base)
  }

  /// The header fields that a request sends.
  ///
  /// See ``Fetching``.
  package func fields(of request: Request) -> Headers {
    HeaderKey(request).fields(userAgent: core.options.userAgent)
  }

  /// A summary of the unfinished requests.
  ///
  /// It can be read on any thread.
  package var activity: TransferActivity { core.tally.activity }

  /// Cancels every unfinished request.
  ///
  /// See ``Fetching``.
  package func cancelAll() { core.post { $0.cancelAll() } }

  /// Cancels every unfinished request, and waits until the transfer thread has ended.
  ///
  /// A later request is cancelled at once, and its completion is called on the caller's thread. The transport calls
  /// this function itself when its last reference is released.
  package func shutdown() {
    core.close()
    thread.join()
  }

  /// The error message if libcurl could not be opened.
  ///
  /// Nil if it was opened, or was not needed yet.
  package static var absence: String? {
    larder_curl_failure().map {
      "libcurl cannot be opened: \(String(cString: $0)); install it (Debian: libcurl4)"
    }
  }

  /// The version of the installed libcurl.
  ///
  /// It may be older than the version that larder was built with.
  private static let version = LibraryVersion(
    bits: larder_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0
  )
  /// The oldest version of libcurl that has all options that larder sets.
  ///
  /// `CURLOPT_PROTOCOLS_STR` was added in 7.85.0, and `CURLOPT_QUICK_EXIT` in 7.87.0.
  static let needed = LibraryVersion(7, 87, 0)

  /// The path of the file with the certificates that the installed libcurl trusts by default.
  ///
  /// It is nil if libcurl has no such file, or cannot be opened.
  package static var trust: String? {
    // `cainfo` was added in 7.70.0. Older versions of libcurl are refused.
    larder_version_info(CURLVERSION_SEVENTH)?.pointee.cainfo.map { String(cString: $0) }
  }

  /// Opens and initializes libcurl, so that its first use need not wait for that; safe on any thread.
  package static func openLibrary() { _ = isLibraryReady }

  /// Whether libcurl's global initialization succeeded.
  ///
  /// It happens once in a process.
  private static let isLibraryReady = larder_global_init() == CURLE_OK
}

/// The state that the transfer thread shares with other threads, and the messages from them.
final class TransferCore: Sendable {
  let options: TransportOptions
  let tally = ActivityTally()
  let multi: MultiHandle
  private let mailbox = Mutex(Mailbox())

  init(_ options: TransportOptions) throws(TransferFailure) {
    self.options = options
    multi = try MultiHandle()
    try multi.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    // There can be twice `parallel` transfers, because transfers to silent hosts are not counted. 64 more connections
    // can stay open for hosts without transfers.
    try multi.set(CURLMOPT_MAXCONNECTS, 64 + 2 * options.scheduleLimits.parallel)
  }

  /// The messages that the transfer thread has not taken yet.
  struct Mail: Sendable {
    /// The transfers to start, in the order in which they were submitted.
    var submitted: [Transfer] = []
    /// The transfers that were cancelled before the transfer thread took them.
    var cancelled: [Transfer] = []
    /// The host names that were resolved, with their addresses.
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

  private struct Mailbox {
    var mail = Mail()
    var isLoopAsleep = false
    var isClosed = false
  }

  /// Cancels every unfinished request, ends the loop, and accepts no further messages.
  func close() {
    // All must happen in one step. Otherwise the transfer thread could fall asleep after the first step, and miss the
    // second.
    post(closing: true) {
      $0.cancelAll()
      $0.stops = true
    }
  }

  /// Takes all messages.
  ///
  /// If there are none and `orSleep` is true, records that the transfer thread is about to sleep.
  func collect(orSleep: Bool) -> Mail {
    mailbox.withLock { state in
      state.isLoopAsleep = orSleep && state.mail.isEmpty
      guard !state.mail.isEmpty else { return Mail() }
      let mail = state.mail
      state.mail = Mail()
      return mail
    }
  }

  /// Changes the mail, and wakes the transfer thread if it sleeps.
  ///
  /// The result is false if the mailbox is closed.
  @discardableResult
  func post(closing: Bool = false, _ body: (inout Mail) -> Void) -> Bool {
    let (isPosted, mustWake) = mailbox.withLock { state in
      guard !state.isClosed else { return (false, false) }
      body(&state.mail)
      state.isClosed = closing
      // Further messages need no further wake-up until the transfer thread has taken them.
      defer { state.isLoopAsleep = false }
      return (true, state.isLoopAsleep)
    }
    if mustWake { multi.wake() }
    return isPosted
  }
}

/// The thread that runs the ``TransferLoop``.
final class TransferThread: Sendable {
  /// The thread, or nil once it was joined or detached.
  private let handle: Mutex<pthread_t?>

  /// Starts the thread with all signals blocked.
  ///
  /// The other threads of the program receive its signals. SIGPIPE must be blocked, because it would end the program
  /// when OpenSSL writes to a closed connection.
  init(_ core: TransferCore) throws(TransferFailure) {
    var thread = pthread_t()
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    // SAFETY: `takeRetainedValue` in the thread balances this retain, or `release` below if the thread cannot start.
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
      throw .unavailable("the system cannot start a thread")
    }
    handle = Mutex(thread)
  }

  /// Waits until the thread has ended.
  ///
  /// If it is called on the thread itself, it only detaches the thread. This happens if a completion releases the last
  /// reference to the transport.
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

/// Counts the requests under way, for the progress display.
///
/// The transfer thread updates the counts a few times for each request. Any thread can read them.
final class ActivityTally: Sendable {
  private struct Counts {
    var retrying = 0
    /// The number of requests under way whose last attempt was sent to each host.
    ///
    /// The index is the number of the host in the schedule.
    var hosts: [(host: String, requests: Int)] = []
  }

  private let counts = Mutex(Counts())

  /// Adds a new host.
  func addHost(_ url: WebURL) { counts.withLock { $0.hosts.append((url.shownHost, 0)) } }

  /// Counts a request for a host, and no longer for the host that it was counted for before.
  func move(from former: Int?, to host: Int?) {
    counts.withLock { counts in
      if let former { counts.hosts[former].requests -= 1 }
      if let host { counts.hosts[host].requests += 1 }
    }
  }

  /// Adds `count`, which can be negative, to the number of requests whose last attempt failed.
  func addRetrying(_ count: Int) { counts.withLock { $0.retrying += count } }

  /// A summary of the counts.
  var activity: TransferActivity {
    counts.withLock { TransferActivity(retrying: $0.retrying, underWay: $0.hosts) }
  }
}
