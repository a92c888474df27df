import CCurl
import Transport

/// Content codings by name. (RFC 9110, section 8.4.1)
///
/// libcurl has one code for a coding that it does not know and for a body that is not what its coding says; which of
/// the two it was follows from the names in the head.
struct ContentCodings: Equatable {
  /// In lower case.
  let names: Set<String>

  /// What the libcurl that is loaded undoes.
  static let decodable: ContentCodings = {
    let features = larder_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0
    return ContentCodings(
      zlib: features & CURL_VERSION_LIBZ != 0,
      brotli: features & CURL_VERSION_BROTLI != 0,
      zstandard: features & CURL_VERSION_ZSTD != 0
    )
  }()

  /// The codings of a libcurl with these libraries. (content_encoding.c)
  init(zlib: Bool, brotli: Bool, zstandard: Bool) {
    var names: Set<String> = ["identity", "none"]
    if zlib { names.formUnion(["gzip", "x-gzip", "deflate"]) }
    if brotli { names.insert("br") }
    if zstandard { names.insert("zstd") }
    self.names = names
  }

  /// Whether each coding that `Content-Encoding` names is one of these.
  func contains(all headers: Headers) -> Bool {
    headers.all("Content-Encoding").allSatisfy { value in
      value.split { $0 == "," || $0 == " " || $0 == "\t" }
        .allSatisfy { names.contains($0.lowercased()) }
    }
  }
}
