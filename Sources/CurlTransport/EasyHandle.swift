import Base
import CCurl
import Transport

/// A libcurl easy handle, which carries out one transfer at a time.
///
/// It is freed when the value is destroyed.
///
/// The open connections do not belong to easy handles but to the ``MultiHandle``. So all transfers share them.
struct EasyHandle: ~Copyable {
  private let raw: UnsafeMutableRawPointer
  private let refusals = Refusals()

  /// The first option that libcurl refused.
  ///
  /// This is a class, because the functions that set options do not mutate the handle.
  private final class Refusals {
    var first: TransferFailure?
  }

  init() throws(TransferFailure) {
    guard let raw = larder_easy_init() else { throw .noMemory }
    self.raw = raw
  }

  /// The first option that libcurl refused since the handle was made.
  ///
  /// A handle with a refused option must not be used for a transfer. For example, it could accept invalid certificates.
  var refused: TransferFailure? { refusals.first }

  private func check(_ option: CURLoption, _ code: CURLcode) {
    guard code != CURLE_OK, refusals.first == nil else { return }
    refusals.first =
      code == CURLE_OUT_OF_MEMORY
      ? .noMemory : .refused("\(option.rawValue)", larder_easy_strerror(code))
  }

  deinit { larder_easy_cleanup(raw) }

  /// The number of body bytes that were received so far, before decoding.
  var wireBytes: ByteCount { ByteCount(larder_easy_get_wire(raw)) }

  /// The status of the response that is being received, which may be an interim response.
  var status: Int { larder_easy_get_status(raw) }

  func set(_ option: CURLoption, _ value: Int) {
    check(option, larder_easy_set_long(raw, option, value))
  }

  func set(_ option: CURLoption, _ value: Bool) {
    check(option, larder_easy_set_long(raw, option, value ? 1 : 0))
  }

  /// Sets a string, which libcurl copies.
  ///
  /// Nil restores the default.
  func set(_ option: CURLoption, _ value: String?) {
    check(
      option,
      value.map { $0.withCString { larder_easy_set_pointer(raw, option, $0) } }
        ?? larder_easy_set_pointer(raw, option, nil)
    )
  }

  /// Sets a pointer.
  ///
  /// The object that it points to must exist as long as the handle can use the pointer.
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

  /// Makes the next transfer a POST with a copy of `body`, or a GET if `body` is nil.
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

  /// Makes libcurl sign the next transfers for an object store.
  ///
  /// Nil turns signing off.
  func set(signing: RequestSigning?) {
    set(CURLOPT_NOBODY, signing?.verb == .head)
    set(CURLOPT_CUSTOMREQUEST, signing.flatMap { $0.verb == .head ? nil : $0.verb.rawValue })
    set(CURLOPT_AWS_SIGV4, signing?.scope)
    set(CURLOPT_USERNAME, signing?.user)
    set(CURLOPT_PASSWORD, signing?.secret)
  }

  func set(watch: UnsafeMutablePointer<larder_excess_watch>) {
    check(CURLOPT_CLOSESOCKETFUNCTION, larder_easy_set_excess_watch(raw, watch))
  }

  func set(debug callback: larder_debug_callback) {
    check(CURLOPT_DEBUGFUNCTION, larder_easy_set_debug_callback(raw, callback))
  }

  /// Whether there are unread bytes on the connection of a finished transfer.
  ///
  /// This must be read before ``leave(_:)`` is called.
  var hasUnread: Bool { larder_easy_has_unread(raw) != 0 }

  /// Whether the connection of a finished transfer is still open.
  ///
  /// This must be read before ``leave(_:)`` is called.
  var isConnected: Bool { larder_easy_is_connected(raw) != 0 }

  func outcome() -> larder_outcome {
    var outcome = larder_outcome()
    larder_easy_get_outcome(raw, &outcome)
    return outcome
  }

  func join(_ multi: borrowing MultiHandle) -> CURLMcode { larder_multi_add(multi.raw, raw) }

  func leave(_ multi: borrowing MultiHandle) { larder_multi_remove(multi.raw, raw) }
}

// Failures of libcurl and the system. They belong to no URL.
extension TransferFailure {
  /// The failure that libcurl cannot be used.
  static func unfit(_ detail: String) -> TransferFailure {
    TransferFailure(reason: .libraryRefused, url: "", detail: detail)
  }

  /// The failure that libcurl refused an option, with libcurl's reason.
  static func refused(_ option: String, _ reason: UnsafePointer<CChar>) -> TransferFailure {
    unfit("libcurl refuses option \(option) (\(String(cString: reason)))")
  }

  /// The failure that memory, threads or file descriptors ran out.
  static func unavailable(_ detail: String) -> TransferFailure {
    TransferFailure(reason: .outOfMemory, url: "", detail: detail)
  }

  /// The failure that libcurl could not allocate memory.
  static let noMemory = unavailable("libcurl has too little memory")
}

/// A libcurl multi handle, which contains the running transfers and the open connections.
///
/// It is freed when the value is destroyed.
struct MultiHandle: ~Copyable, @unchecked Sendable {
  // SAFETY: only the transfer thread uses it, except for `wake`, which libcurl allows from any thread.
  let raw: UnsafeMutableRawPointer
  /// The context of the callback with which libcurl closes a socket.
  ///
  /// See ``ExcessDetector``.
  ///
  /// It belongs to this handle, because a connection can exist as long as this handle.
  let watch: UnsafeMutablePointer<larder_excess_watch>

  /// Makes a handle without transfers.
  ///
  /// - Throws: A failure if there is too little memory, or if libcurl cannot open the sockets for ``wake()``.
  init() throws(TransferFailure) {
    guard let raw = larder_multi_init() else { throw .noMemory }
    // libcurl makes a handle even if it cannot open these sockets. Then this call fails.
    guard larder_multi_wakeup(raw) == CURLM_OK else {
      larder_multi_cleanup(raw)
      throw .unavailable("the system has no free file descriptor")
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
  /// - Throws: A failure if libcurl refuses the option.
  func set(_ option: CURLMoption, _ value: Int) throws(TransferFailure) {
    let code = larder_multi_set_long(raw, option, value)
    guard code != CURLM_OUT_OF_MEMORY else { throw .noMemory }
    guard code == CURLM_OK else {
      throw .refused("\(option.rawValue) of all transfers", larder_multi_strerror(code))
    }
  }

  /// Sends and receives as much as possible without waiting.
  func perform() { larder_multi_perform(raw) }

  /// Waits until a transfer can continue, or until ``wake()`` is called, but at most for the given time.
  func wait(milliseconds: Int32) { larder_multi_poll(raw, milliseconds) }

  /// Ends the current call of ``wait(milliseconds:)``, or the next call if there is none.
  ///
  /// Any thread can call this.
  func wake() { _ = larder_multi_wakeup(raw) }

  /// Removes the next finished transfer from libcurl's list, and returns its exchange and libcurl's result.
  func nextDone() -> (exchange: Exchange, result: CURLcode)? {
    var result = CURLE_OK
    guard let easy = larder_multi_next_done(raw, &result),
      let context = larder_easy_get_private(easy)
    else { return nil }
    // SAFETY: each easy handle in this multi handle belongs to an Exchange. The exchange stored itself as the handle's
    // private pointer, and exists at least as long as the handle.
    return (Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue(), result)
  }
}
