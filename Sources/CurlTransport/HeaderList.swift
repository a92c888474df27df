import CCurl
import Transport

/// A libcurl string list of header lines, freed exactly once.
struct HeaderList: ~Copyable {
  /// Nil while empty; only the handle wrappers look at it.
  private(set) var raw: UnsafeMutablePointer<curl_slist>?

  init() {}

  deinit { larder_slist_free(raw) }

  /// Adds a field.
  mutating func append(_ name: String, _ value: String) {
    var (name, value) = (name, value)
    name.withUTF8 { name in value.withUTF8 { append(name, $0) } }
  }

  /// Adds fields, but for those that libcurl alone may write because they say where the message ends.
  mutating func append(_ headers: Headers) {
    headers.lines.withUnsafeBufferPointer { bytes in
      for line in HeaderLines(bytes)
      where !line.isNamed("Content-Length") && !line.isNamed("Transfer-Encoding") {
        append(
          UnsafeBufferPointer(rebasing: bytes[line.name]),
          UnsafeBufferPointer(rebasing: bytes[line.value])
        )
      }
    }
  }

  /// Keeps libcurl from sending a header that it adds by itself.
  mutating func suppress(_ name: String) { append(line: name + ":") }

  /// Adds a line as it is.
  mutating func append(line: String) {
    if let longer = larder_slist_append(raw, line) { raw = longer }
  }

  private mutating func append(
    _ name: UnsafeBufferPointer<UInt8>,
    _ value: UnsafeBufferPointer<UInt8>
  ) {
    // libcurl drops a header that ends at its colon; a semicolon says that the empty value is meant.
    let between: StaticString = value.isEmpty ? ";" : ": "
    let count = name.count + between.utf8CodeUnitCount + value.count
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 1) { text in
      var end = text.update(fromContentsOf: name)
      between.withUTF8Buffer { end = text[end...].update(fromContentsOf: $0) }
      end = text[end...].update(fromContentsOf: value)
      text[end] = 0
      text.withMemoryRebound(to: CChar.self) {
        if let longer = larder_slist_append(raw, $0.baseAddress) { raw = longer }
      }
    }
  }
}
