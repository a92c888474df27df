import Base
import Glibc

extension LarderError {
  /// The error for a failed system call, such as "cannot open cache/lock: permission denied".
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> LarderError {
    let mayNotWrite = code == EACCES || code == EPERM || code == EROFS || code == ENOTDIR
    return .system(verb, thing, errno: code, remedy: mayNotWrite ? .writableFolder : nil)
  }

  /// The error for a cache at `path` that could not be read.
  ///
  /// The message depends on the `errno` of the attempt.
  static func unread(_ path: String, errno code: Int32) -> LarderError {
    switch code {
    case ENOENT, ENOTDIR:
      LarderError(
        .empty,
        "cannot read \(path): there is no cache here",
        remedy: .syncOrOtherFolder,
        thing: path,
        errno: code
      )
    default:
      LarderError(
        .disk,
        "cannot read \(path): \(systemMessage(code)); read it as the user that owns it",
        thing: path,
        errno: code
      )
    }
  }
}
