import CCurl

/// The set of running transfers and the open connections, freed exactly once.
struct MultiHandle: ~Copyable, @unchecked Sendable {
  // SAFETY: used on the transfer thread only, but for `wakeup`, which libcurl documents as safe from any thread.
  let raw: UnsafeMutableRawPointer
  /// Where libcurl looks when it closes a socket, and so here: connections live as long as this handle.
  let watch: UnsafeMutablePointer<larder_excess_watch>

  init() throws(OutOfMemory) {
    guard let raw = curl_multi_init() else { throw OutOfMemory() }
    self.raw = raw
    watch = .allocate(capacity: 1)
    watch.initialize(to: larder_excess_watch())
  }

  deinit {
    curl_multi_cleanup(raw)
    watch.deallocate()
  }

  func set(_ option: CURLMoption, _ value: Int) {
    _ = larder_multi_set_long(raw, option, value)
  }

  /// Moves every transfer on as far as it goes without waiting.
  func perform() {
    var running: Int32 = 0
    curl_multi_perform(raw, &running)
  }

  /// Waits for something to do, for a wakeup, or for so many milliseconds.
  func poll(milliseconds: Int32) {
    curl_multi_poll(raw, nil, 0, milliseconds, nil)
  }

  /// Ends a `poll`, or the next one, from any thread.
  func wakeup() { curl_multi_wakeup(raw) }

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
