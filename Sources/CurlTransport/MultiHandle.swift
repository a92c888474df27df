import CCurl

/// The set of running transfers and the open connections, freed exactly once.
struct MultiHandle: ~Copyable, @unchecked Sendable {
  // SAFETY: all of it is used on the transfer thread only, but for `wake`, which any thread may call.
  let raw: UnsafeMutableRawPointer
  private let events: SocketEvents
  /// Where libcurl looks when it closes a socket, and so here: connections live as long as this handle.
  let watch: UnsafeMutablePointer<larder_excess_watch>

  /// Makes a handle without transfers.
  ///
  /// - Throws: ``OutOfMemory``, ``OutOfDescriptors``, or ``RefusedMultiOption`` when libcurl does not take what wakes
  ///   it, without which no transfer would ever end.
  init() throws {
    let events = try SocketEvents()
    guard let raw = larder_multi_init() else { throw OutOfMemory() }
    let code = events.attach(to: raw)
    guard code == CURLM_OK else {
      larder_multi_cleanup(raw)
      throw RefusedMultiOption(option: CURLMOPT_SOCKETFUNCTION, code: code)
    }
    self.raw = raw
    self.events = events
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
  func perform() { events.perform(raw) }

  /// Waits for something to do, for a wake, or for so many milliseconds.
  func wait(milliseconds: Int32) { events.wait(milliseconds: milliseconds) }

  /// Ends a wait, or the next one, from any thread.
  func wake() { events.wake() }

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
