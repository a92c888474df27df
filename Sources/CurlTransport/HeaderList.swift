import CCurl
import Transport

/// A libcurl string list of header lines, freed exactly once.
struct HeaderList: ~Copyable {
  /// Nil while empty; only the handle wrappers look at it.
  private(set) var raw: UnsafeMutablePointer<curl_slist>?

  init() {}

  deinit { curl_slist_free_all(raw) }

  mutating func append(_ name: String, _ value: String) {
    // libcurl drops a header that ends at its colon; a semicolon says that the empty value is meant.
    append(line: value.isEmpty ? name + ";" : name + ": " + value)
  }

  /// Keeps libcurl from sending a header that it adds by itself.
  mutating func suppress(_ name: String) { append(line: name + ":") }

  /// Adds a line as it is.
  mutating func append(line: String) {
    if let longer = curl_slist_append(raw, line) { raw = longer }
  }
}
