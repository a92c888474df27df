import CCurl

/// The set of running transfers and the open connections, freed exactly once.
struct MultiHandle: ~Copyable, @unchecked Sendable {
  // SAFETY: all of it is used on the transfer thread only, but for `wake`, for which libcurl is made.
  let raw: UnsafeMutableRawPointer
  /// Where libcurl looks when it closes a socket, and so here: connections live as long as this handle.
  let watch: UnsafeMutablePointer<larder_excess_watch>

  /// Makes a handle without transfers.
  ///
  /// - Throws: ``OutOfMemory``, or ``OutOfDescriptors`` when libcurl has no sockets to be woken by.
  init() throws {
    guard let raw = larder_multi_init() else { throw OutOfMemory() }
    // libcurl makes a handle without those sockets too. A wake before the first wait tells.
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
  /// - Throws: ``RefusedMultiOption`` when libcurl does not take it.
  func set(_ option: CURLMoption, _ value: Int) throws(RefusedMultiOption) {
    let code = larder_multi_set_long(raw, option, value)
    guard code == CURLM_OK else { throw RefusedMultiOption(option: option, code: code) }
  }

  /// Advances every transfer as far as it gets without waiting.
  func perform() { larder_multi_perform(raw) }

  /// Waits for something to do, for a wake, or for so many milliseconds.
  func wait(milliseconds: Int32) { larder_multi_poll(raw, milliseconds) }

  /// Ends a wait, or the next one, from any thread.
  func wake() { _ = larder_multi_wakeup(raw) }

  /// Takes the next finished transfer: its exchange and libcurl's result.
  func nextDone() -> (exchange: Exchange, result: CURLcode)? {
    var result = CURLE_OK
    guard let easy = larder_multi_next_done(raw, &result),
      let context = larder_easy_get_private(easy)
    else { return nil }
    // SAFETY: every easy handle that joins was made by an Exchange, which put itself there and outlives the handle.
    return (Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue(), result)
  }
}

/// The system gives no descriptor to wait with.
struct OutOfDescriptors: Error {}

/// An option of all transfers that libcurl did not take, and why.
struct RefusedMultiOption: Error {
  /// The option.
  let option: CURLMoption
  /// libcurl's word.
  let code: CURLMcode

  /// A sentence for a person.
  var words: String {
    "libcurl refuses option \(option.rawValue) of all transfers "
      + "(\(String(cString: larder_multi_strerror(code))))"
  }
}
