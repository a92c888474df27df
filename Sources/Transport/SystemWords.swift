import Glibc

/// The system's own words for an error number, in lower case as they go in the middle of a sentence.
package func systemWords(_ errno: Int32) -> String {
  // The GNU strerror_r may answer with a constant of its own instead of filling the buffer.
  String(cString: strerror(errno)).lowercased()
}
