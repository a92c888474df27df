import Glibc

/// Why the cache could not do what it was asked, with what to do about it.
public struct CacheError: Error, Equatable, CustomStringConvertible {
  /// What went wrong, as a stable word.
  ///
  /// An open set: new members break nobody.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word that scripts may rely on.
    public let rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Another process holds the cache.
    public static let locked = Code(rawValue: "locked")
    /// The disk, or a quota on it, is full.
    public static let diskFull = Code(rawValue: "disk-full")
    /// The operating system refused a file operation.
    public static let disk = Code(rawValue: "disk")
    /// What is on disk is not what larder wrote.
    public static let damaged = Code(rawValue: "damaged")
    /// There is no cache at this path, or nothing in it yet.
    public static let empty = Code(rawValue: "empty")
    /// Several things fit what was asked for.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// A library of this machine is too old for what larder needs of it.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A newer larder wrote this cache.
    public static let tooNew = Code(rawValue: "too-new")
    /// The folder's file system or owner makes it unfit to hold a cache.
    public static let unfit = Code(rawValue: "unfit")
  }

  /// What went wrong.
  public let code: Code
  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  public let description: String

  /// Makes an error from its code and its sentence.
  public init(_ code: Code, _ description: String) {
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
