import Glibc
import Transport

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
    /// The store that keeps the pictures asks for less, or fails for a while.
    package static let storeBusy = Code(rawValue: "store-busy")
    /// The store that keeps the pictures refuses, or cannot be reached.
    package static let storeRefused = Code(rawValue: "store-refused")
    /// The store is not named as it has to be, or the environment lacks what it needs.
    package static let storeUnnamed = Code(rawValue: "store-unnamed")
  }

  /// What can be done about it; a command adds which of its flags does it.
  package enum Remedy: String, Sendable, Hashable {
    /// Repair the cache, then sync.
    case repair = "repair the cache, then sync again"
    /// Repair the cache, which makes the index anew.
    case remake = "a repair makes it anew and keeps the pictures"
    /// Choose a folder that belongs to oneself.
    case ownFolder = "choose a folder of your own"
    /// Choose a folder that can be written.
    case writableFolder = "choose a folder you may write"
    /// Sync first.
    case sync = "sync first"
    /// Sync first, or look elsewhere.
    case syncOrOtherFolder = "sync first, or choose another folder"
    /// Use the larder that wrote it.
    case newerVersion = "install that version or later, or choose another folder"
    /// Say which catalog is meant.
    case nameCatalog = "name one"
  }

  /// What went wrong.
  package let code: Code
  /// What could not be done, and why: "cannot VERB THING: REASON".
  package let problem: String
  /// What can be done about it, where that is not part of the reason.
  package let remedy: Remedy?
  /// The path, key or number that it is about.
  package let thing: String?
  /// The operating system's number for it.
  package let errno: Int32?

  /// Makes an error from its code, its sentence and what else is known.
  package init(
    _ code: Code,
    _ problem: String,
    remedy: Remedy? = nil,
    thing: String? = nil,
    errno: Int32? = nil
  ) {
    self.code = code
    self.problem = problem
    self.remedy = remedy
    self.thing = thing
    self.errno = errno
  }

  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  package var description: String {
    problem + (remedy.map { "; \($0.rawValue)" } ?? "")
  }

  /// An error of the operating system while doing `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> CacheError {
    let isFull = code == ENOSPC || code == EDQUOT
    let mayNotWrite = code == EACCES || code == EPERM || code == EROFS || code == ENOTDIR
    return CacheError(
      isFull ? .diskFull : .disk,
      "cannot \(verb) \(thing): \(isFull ? "no space left; free some and run again" : systemWords(code))",
      remedy: mayNotWrite ? .writableFolder : nil,
      thing: thing,
      errno: code
    )
  }

  /// What keeps a cache at `path` from being read, by the errno of the attempt.
  static func unread(_ path: String, errno code: Int32) -> CacheError {
    switch code {
    case ENOENT, ENOTDIR:
      CacheError(
        .empty,
        "cannot read \(path): there is no cache here",
        remedy: .syncOrOtherFolder,
        thing: path,
        errno: code
      )
    default:
      CacheError(
        .disk,
        "cannot read \(path): \(systemWords(code)); look at it as the user that it belongs to",
        thing: path,
        errno: code
      )
    }
  }
}
