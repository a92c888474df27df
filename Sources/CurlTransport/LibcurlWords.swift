import Transport

/// The two things that libcurl tells by the words of a message alone.
///
/// Both are of libcurl 7.88.1 to 8.14; a test lets each happen, and fails once the words are others.
enum LibcurlWords {
  /// Whether a failed receipt (CURLE_RECV_ERROR) was one of broken chunks rather than of the connection.
  ///
  /// `Curl_httpchunk_read` returns a CHUNKcode, which transfer.c turns into CURLE_RECV_ERROR, the code of a
  /// connection that was reset. No CURLINFO tells the two apart: CURLINFO_OS_ERRNO stays 0 with TLS.
  static func tellBrokenChunks(_ text: String, _ head: ResponseHead) -> Bool {
    head.headers.contains("Transfer-Encoding") && text.contains("chunk")
  }

  /// Whether a failed handshake (CURLE_SSL_CONNECT_ERROR) ended because the connection was closed in the midst of it.
  ///
  /// It is then worth another try, while one that the server refused is not. A reset has its errno; a close has none.
  /// OpenSSL has no error in its queue then, for which vtls/openssl.c prints `SSL_connect: ` and the state; an error
  /// of OpenSSL's own is printed by its words. The code is the same, and CURLINFO_SSL_VERIFYRESULT speaks of
  /// certificates only.
  static func tellCutHandshake(_ text: String) -> Bool { text.contains("SSL_connect: ") }
}
