import CCurl

/// One libcurl URL parser, freed exactly once.
struct URLHandle: ~Copyable {
  private let raw: OpaquePointer

  init?() {
    guard let raw = curl_url() else { return nil }
    self.raw = raw
  }

  deinit { curl_url_cleanup(raw) }

  /// Takes a URL; when the handle holds one already, `text` may be relative to it.
  func set(_ text: String) -> CURLUcode {
    curl_url_set(raw, CURLUPART_URL, text, 0)
  }

  /// Takes another path, which needs no encoding and ends with a zero byte.
  func set(path: UnsafePointer<CChar>) -> CURLUcode {
    curl_url_set(raw, CURLUPART_PATH, path, 0)
  }

  /// Has a transfer take the URL from here, parsed as it is; the handle must stay until the transfer has ended.
  func lend(to easy: borrowing EasyHandle) {
    easy.set(CURLOPT_CURLU, context: UnsafeRawPointer(raw))
  }

  /// A part as it was parsed, still percent-encoded; nil when the URL has none.
  func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(raw, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
