import CCurl

/// One libcurl transfer handle, freed exactly once.
///
/// Its connections live in the multi handle, so that many transfers in turn share one easy handle and all
/// of them share the connections.
struct EasyHandle: ~Copyable {
  private let raw: UnsafeMutableRawPointer

  init() throws(OutOfMemory) {
    guard let raw = curl_easy_init() else { throw OutOfMemory() }
    self.raw = raw
  }

  deinit { curl_easy_cleanup(raw) }

  func set(_ option: CURLoption, _ value: Int) {
    _ = larder_easy_set_long(raw, option, value)
  }

  func set(_ option: CURLoption, _ value: Bool) {
    _ = larder_easy_set_long(raw, option, value ? 1 : 0)
  }

  /// libcurl copies the text; nil goes back to the default.
  func set(_ option: CURLoption, _ value: String?) -> CURLcode {
    guard let value else { return larder_easy_set_pointer(raw, option, nil) }
    return value.withCString { larder_easy_set_pointer(raw, option, $0) }
  }

  /// Sets a context; the caller keeps it alive as long as the handle may use it.
  func set(_ option: CURLoption, context: UnsafeRawPointer?) {
    _ = larder_easy_set_pointer(raw, option, context)
  }

  func set(_ option: CURLoption, callback: larder_data_callback) {
    _ = larder_easy_set_data_callback(raw, option, callback)
  }

  func set(prereq callback: larder_prereq_callback?) {
    _ = larder_easy_set_prereq_callback(raw, callback)
  }

  func set(judge: UnsafeMutablePointer<larder_address_judge>) {
    _ = larder_easy_set_address_judge(raw, judge)
  }

  func set(headers: borrowing HeaderList) {
    _ = larder_easy_set_pointer(raw, CURLOPT_HTTPHEADER, headers.raw)
  }

  /// Makes the next transfer a POST of a copy of `body`, or a GET.
  func set(post body: [UInt8]?) {
    guard let body else {
      set(CURLOPT_HTTPGET, true)
      return
    }
    set(CURLOPT_POST, true)
    _ = larder_easy_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    body.withUnsafeBytes { bytes in
      _ = larder_easy_set_pointer(
        raw,
        CURLOPT_COPYPOSTFIELDS,
        bytes.baseAddress ?? UnsafeRawPointer(raw)
      )
    }
  }

  func set(watch: UnsafeMutablePointer<larder_excess_watch>) {
    _ = larder_easy_set_excess_watch(raw, watch)
  }

  func set(debug callback: larder_debug_callback) {
    _ = larder_easy_set_debug_callback(raw, callback)
  }

  /// Whether bytes wait on the connection that a finished transfer leaves open; asked before the handle leaves.
  var hasUnread: Bool { larder_easy_has_unread(raw) != 0 }

  func outcome() -> larder_outcome {
    var outcome = larder_outcome()
    larder_easy_get_outcome(raw, &outcome)
    return outcome
  }

  func join(_ multi: borrowing MultiHandle) -> CURLMcode { curl_multi_add_handle(multi.raw, raw) }

  func leave(_ multi: borrowing MultiHandle) { curl_multi_remove_handle(multi.raw, raw) }
}

/// libcurl could not allocate a handle.
struct OutOfMemory: Error {}
