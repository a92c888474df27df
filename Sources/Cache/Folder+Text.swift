import Base

extension Folder {
  /// The text of a small regular file; nil when there is none, or it has `limit` bytes or more.
  ///
  /// Follows no link, and waits for no pipe's other end.
  func text(of name: String, limit: Int) -> String? {
    guard let bytes = Files.contents(of: name, in: descriptor, most: limit - 1), !bytes.isEmpty
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
