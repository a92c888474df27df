import CGlibc

/// The system's own words for an error number, in lower case as they go in the middle of a sentence.
package func systemWords(_ errno: Int32) -> String {
  String(cString: larder_error_words(errno))
}
