import Base
import CCurl
import Transport

/// One libcurl transfer handle, freed exactly once.
///
/// Connections belong to the multi handle, the set of running transfers. So transfers can use one easy handle in
/// turn, and all transfers share the connections.
struct EasyHandle: ~Copyable {
  private let raw: UnsafeMutableRawPointer
  private let refusals = Refusals()

  /// The first option that libcurl refused.
  ///
  /// This is a class, because functions that only borrow the handle set options.
  private final class Refusals {
    var first: RefusedOption?
  }

  init() throws(OutOfMemory) {
    guard let raw = larder_easy_init() else { throw OutOfMemory() }
    self.raw = raw
  }

  /// The first option that libcurl refused since the handle was made.
  ///
  /// No transfer may use such a handle: it might lack the setting that limits it to http, to public addresses or
  /// to valid certificates.
  var refused: RefusedOption? { refusals.first }

  private func check(_ option: CURLoption, _ code: CURLcode) {
    guard code != CURLE_OK, refusals.first == nil else { return }
    refusals.first = RefusedOption(option: option, code: code)
  }

  deinit { larder_easy_cleanup(raw) }

  /// The bytes of the body received so far, before decoding.
  var wireBytes: ByteCount { ByteCount(larder_easy_get_wire(raw)) }

  func set(_ option: CURLoption, _ value: Int) {
    check(option, larder_easy_set_long(raw, option, value))
  }

  func set(_ option: CURLoption, _ value: Bool) {
    check(option, larder_easy_set_long(raw, option, value ? 1 : 0))
  }

  /// Sets a text, which libcurl copies; nil restores the default.
  @discardableResult
  func set(_ option: CURLoption, _ value: String?) -> CURLcode {
    let code =
      value.map { $0.withCString { larder_easy_set_pointer(raw, option, $0) } }
      ?? larder_easy_set_pointer(raw, option, nil)
    check(option, code)
    return code
  }

  /// Sets a context pointer; the caller must keep its object alive as long as the handle may use it.
  func set(_ option: CURLoption, context: UnsafeRawPointer?) {
    check(option, larder_easy_set_pointer(raw, option, context))
  }

  func set(_ option: CURLoption, callback: larder_data_callback) {
    check(option, larder_easy_set_data_callback(raw, option, callback))
  }

  func set(prereq callback: larder_prereq_callback) {
    check(CURLOPT_PREREQFUNCTION, larder_easy_set_prereq_callback(raw, callback))
  }

  func set(judge: UnsafeMutablePointer<larder_address_judge>) {
    check(CURLOPT_OPENSOCKETFUNCTION, larder_easy_set_address_judge(raw, judge))
  }

  func set(headers: borrowing HeaderList) {
    check(CURLOPT_HTTPHEADER, larder_easy_set_pointer(raw, CURLOPT_HTTPHEADER, headers.raw))
  }

  /// Makes the next transfer a POST of a copy of `body`; nil makes it a GET.
  func set(post body: [UInt8]?) {
    guard let body else {
      set(CURLOPT_HTTPGET, true)
      return
    }
    set(CURLOPT_POST, true)
    check(
      CURLOPT_POSTFIELDSIZE_LARGE,
      larder_easy_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    )
    body.withUnsafeBytes { bytes in
      set(CURLOPT_COPYPOSTFIELDS, context: bytes.baseAddress ?? UnsafeRawPointer(raw))
    }
  }

  /// Makes libcurl sign the next transfers for an object store; nil turns signing off.
  func set(signing: RequestSigning?, userAgent: String) {
    set(CURLOPT_NOBODY, signing?.verb == .head)
    set(CURLOPT_CUSTOMREQUEST, signing.flatMap { $0.verb == .head ? nil : $0.verb.rawValue })
    set(CURLOPT_AWS_SIGV4, signing?.scope)
    set(CURLOPT_USERNAME, signing?.user)
    set(CURLOPT_PASSWORD, signing?.secret)
    // Set the User-Agent with its own option, because libcurl would sign it as a header line.
    set(CURLOPT_USERAGENT, signing == nil ? nil : userAgent)
  }

  func set(watch: UnsafeMutablePointer<larder_excess_watch>) {
    check(CURLOPT_CLOSESOCKETFUNCTION, larder_easy_set_excess_watch(raw, watch))
  }

  func set(debug callback: larder_debug_callback) {
    check(CURLOPT_DEBUGFUNCTION, larder_easy_set_debug_callback(raw, callback))
  }

  /// Whether unread bytes wait on the connection that a finished transfer left open; must be called before
  /// ``leave(_:)``.
  var hasUnread: Bool { larder_easy_has_unread(raw) != 0 }

  /// Whether a finished transfer left its connection open; must be called before ``leave(_:)``.
  var isConnected: Bool { larder_easy_is_connected(raw) != 0 }

  func outcome() -> larder_outcome {
    var outcome = larder_outcome()
    larder_easy_get_outcome(raw, &outcome)
    return outcome
  }

  func join(_ multi: borrowing MultiHandle) -> CURLMcode { larder_multi_add(multi.raw, raw) }

  func leave(_ multi: borrowing MultiHandle) { larder_multi_remove(multi.raw, raw) }
}

/// The error when libcurl could not allocate a handle.
struct OutOfMemory: Error {}

/// The error when libcurl refused an option.
struct RefusedOption: Error {
  /// The option.
  let option: CURLoption
  /// libcurl's error code.
  let code: CURLcode

  /// The error message.
  var words: String {
    "libcurl refuses option \(option.rawValue) (\(String(cString: larder_easy_strerror(code))))"
  }
}

/// The set of running transfers and the open connections, freed exactly once.
struct MultiHandle: ~Copyable, @unchecked Sendable {
  // SAFETY: only the transfer thread uses it, except for `wake`, which libcurl allows from any thread.
  let raw: UnsafeMutableRawPointer
  /// The watch that libcurl calls when it closes a socket.
  ///
  /// It is kept here because connections live as long as this handle.
  let watch: UnsafeMutablePointer<larder_excess_watch>

  /// Makes a handle without transfers.
  ///
  /// - Throws: ``OutOfMemory``, or ``OutOfDescriptors`` when libcurl has no sockets for wake-ups.
  init() throws {
    guard let raw = larder_multi_init() else { throw OutOfMemory() }
    // libcurl makes a handle even if it has no sockets for wake-ups; this wake-up reveals that.
    guard larder_multi_wakeup(raw) == CURLM_OK else {
      larder_multi_cleanup(raw)
      throw OutOfDescriptors()
    }
    self.raw = raw
    watch = .allocate(capacity: 1)
    watch.initialize(to: larder_excess_watch())
  }

  deinit {
    larder_multi_cleanup(raw)
    watch.deallocate()
  }

  /// Sets a number.
  ///
  /// - Throws: ``RefusedMultiOption`` when libcurl refuses the option.
  func set(_ option: CURLMoption, _ value: Int) throws(RefusedMultiOption) {
    let code = larder_multi_set_long(raw, option, value)
    guard code == CURLM_OK else { throw RefusedMultiOption(option: option, code: code) }
  }

  /// Advances every transfer as far as possible without waiting.
  func perform() { larder_multi_perform(raw) }

  /// Waits for work, for a wake-up, or for `milliseconds`.
  func wait(milliseconds: Int32) { larder_multi_poll(raw, milliseconds) }

  /// Ends the current ``wait(milliseconds:)``; if there is none, the next one ends at once.
  ///
  /// Callable from any thread.
  func wake() { _ = larder_multi_wakeup(raw) }

  /// Takes the next finished transfer: its exchange and libcurl's result.
  func nextDone() -> (exchange: Exchange, result: CURLcode)? {
    var result = CURLE_OK
    guard let easy = larder_multi_next_done(raw, &result),
      let context = larder_easy_get_private(easy)
    else { return nil }
    // SAFETY: each easy handle in this multi handle belongs to an Exchange. The exchange stored itself as the handle's
    // private pointer, and outlives the handle.
    return (Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue(), result)
  }
}

/// The error when the system has no free descriptor for the wake-up sockets.
struct OutOfDescriptors: Error {}

/// The error when libcurl refused an option of the multi handle.
struct RefusedMultiOption: Error {
  /// The option.
  let option: CURLMoption
  /// libcurl's error code.
  let code: CURLMcode

  /// The error message.
  var words: String {
    "libcurl refuses option \(option.rawValue) of all transfers "
      + "(\(String(cString: larder_multi_strerror(code))))"
  }
}
