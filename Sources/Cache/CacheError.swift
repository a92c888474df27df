import Glibc

/// Why the cache could not do what it was asked, with what to do about it.
package struct CacheError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word.
  ///
  /// An open set: new members break nobody.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The word that scripts may rely on.
    package let rawValue: String

    /// Makes a code from its word.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Another process holds the cache.
    package static let locked = Code(rawValue: "locked")
    /// The disk, or a quota on it, is full.
    package static let diskFull = Code(rawValue: "disk-full")
    /// The operating system refused a file operation.
    package static let disk = Code(rawValue: "disk")
    /// What is on disk is not what larder wrote.
    package static let damaged = Code(rawValue: "damaged")
    /// There is no cache at this path, or nothing in it yet.
    package static let empty = Code(rawValue: "empty")
    /// Several things fit what was asked for.
    package static let ambiguous = Code(rawValue: "ambiguous")
    /// A library of this machine is too old for what larder needs of it.
    package static let unsupported = Code(rawValue: "unsupported")
    /// A newer larder wrote this cache.
    package static let tooNew = Code(rawValue: "too-new")
    /// The folder's file system or owner makes it unfit to hold a cache.
    package static let unfit = Code(rawValue: "unfit")
  }

  /// What went wrong.
  package let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package let description: String

  /// Makes an error from its code and its sentence.
  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// An error of the operating system while doing `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> CacheError {
    switch code {
    case ENOSPC, EDQUOT:
      CacheError(.diskFull, "cannot \(verb) \(thing): no space left; free some and run again")
    case EACCES, EPERM, EROFS:
      CacheError(
        .disk,
        "cannot \(verb) \(thing): \(words(for: code)); choose a folder you may write with --cache"
      )
    default:
      CacheError(.disk, "cannot \(verb) \(thing): \(words(for: code))")
    }
  }

  /// What keeps a cache at `path` from being read, by the errno of the attempt.
  static func unread(_ path: String, errno code: Int32) -> CacheError {
    switch code {
    case ENOENT, ENOTDIR:
      CacheError(
        .empty,
        "cannot read \(path): there is no cache here; run larder sync, or give --cache"
      )
    default:
      CacheError(
        .disk,
        "cannot read \(path): \(words(for: code)); look at it as the user that it belongs to"
      )
    }
  }

  /// The system's own words for an error number, in lower case as they go in the middle of a
  /// sentence.
  static func words(for code: Int32) -> String {
    // The GNU strerror_r may answer with a constant of its own instead of filling the buffer.
    String(cString: strerror(code)).lowercased()
  }
}
