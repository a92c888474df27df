import CCurl

/// One libcurl URL parser, freed exactly once.
struct URLHandle: ~Copyable {
  private let raw: OpaquePointer

  init?() {
    guard let raw = larder_url_init() else { return nil }
    self.raw = raw
  }

  deinit { larder_url_cleanup(raw) }

  /// Takes a URL; when the handle holds one already, `text` may be relative to it.
  func set(_ text: String) -> CURLUcode {
    larder_url_set(raw, CURLUPART_URL, text)
  }

  /// A part as it was parsed, still percent-encoded; nil when the URL has none.
  func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard larder_url_get(raw, part, UInt32(flags), &text) == CURLUE_OK, let text else {
      return nil
    }
    defer { larder_curl_free(text) }
    return String(cString: text)
  }
}
