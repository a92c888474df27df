import Cache
import Catalog
import Glibc
import Imaging
import Orders
import Pipeline
import Transport

/// Why larder could not do what it was asked.
///
/// What fails by itself within a run (a picture, a detail, a section) is no error but a part of the
/// ``Shop/Report``.
public struct LarderError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong, as a stable word; an open set, so that a new one breaks nobody.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The word.
    public let rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The catalog, or the environment that it needs, is wrong.
    public static let catalog = Code(rawValue: "catalog")
    /// A URL cannot be used.
    public static let address = Code(rawValue: "address")
    /// An argument is outside what is allowed.
    public static let argument = Code(rawValue: "argument")
    /// Another process or task holds the cache, or the orders.
    public static let locked = Code(rawValue: "locked")
    /// There is no cache, nothing in it yet, or not what was asked for.
    public static let notFound = Code(rawValue: "not-found")
    /// The disk, or a quota on it, is full.
    public static let diskFull = Code(rawValue: "disk-full")
    /// The operating system refused a file operation; see ``LarderError/errno``.
    public static let disk = Code(rawValue: "disk")
    /// What is on disk is not what larder wrote.
    public static let damaged = Code(rawValue: "damaged")
    /// A newer larder wrote the file.
    public static let tooNew = Code(rawValue: "too-new")
    /// The folder, or a library of this machine, is not fit for it.
    public static let unfit = Code(rawValue: "unfit")
    /// An order is refused: sold out, without a price, beyond the budget, or in another state.
    public static let refused = Code(rawValue: "refused")
    /// A transfer failed; see ``LarderError/status``.
    public static let transfer = Code(rawValue: "transfer")
  }

  /// What went wrong.
  public let code: Code
  /// One sentence for people: `cannot VERB THING: REASON`.
  public let description: String
  /// The path, URL, key or id that it is about, when it is about one.
  public let thing: String?
  /// The operating system's number for it, when that is the cause.
  public let errno: Int32?
  /// The HTTP status that is the cause, when one is.
  public let status: Int?

  /// Makes an error.
  init(
    _ code: Code,
    _ description: String,
    thing: String? = nil,
    errno: Int32? = nil,
    status: Int? = nil
  ) {
    self.code = code
    self.description = description
    self.thing = thing
    self.errno = errno
    self.status = status
  }

  /// The operating system's refusal to do `verb` to `thing`.
  static func system(_ verb: String, _ thing: String, errno code: Int32) -> LarderError {
    LarderError(
      .disk,
      "cannot \(verb) \(thing): \(systemWords(code))",
      thing: thing,
      errno: code
    )
  }
}

extension LarderError {
  /// Runs `body` and turns the errors of the inner modules into this one.
  static func translating<Value>(_ body: () throws -> Value) throws(LarderError) -> Value {
    do {
      return try body()
    } catch {
      throw LarderError(error)
    }
  }

  /// An inner module's error as this one.
  init(_ error: any Error) {
    switch error {
    case let error as LarderError: self = error
    case let error as CacheError: self.init(error)
    case let error as CatalogError: self.init(error)
    case let error as OrdersError: self.init(error)
    case let error as TransferFailure: self.init(error)
    case SyncError.cache(let error): self.init(error)
    case SyncError.catalog(let error): self.init(error)
    case SyncError.address(let error): self.init(error)
    default: self.init(.disk, "cannot go on: \(error)")
    }
  }

  private init(_ error: CacheError) {
    let code: Code
    switch error.code {
    case .locked: code = .locked
    case .diskFull: code = .diskFull
    case .damaged: code = .damaged
    case .empty: code = .notFound
    case .ambiguous: code = .argument
    case .unsupported, .unfit: code = .unfit
    case .tooNew: code = .tooNew
    default: code = .disk
    }
    self.init(code, error.problem, thing: error.thing, errno: error.errno)
  }

  private init(_ error: CatalogError) {
    let thing = [error.file ?? error.subject, error.keyPath].compactMap(\.self)
    self.init(
      .catalog,
      error.description,
      thing: thing.filter { !$0.isEmpty }.joined(separator: ": ")
    )
  }

  private init(_ error: OrdersError) {
    let code: Code
    switch error.code {
    case .usage: code = .argument
    case .refused, .state: code = .refused
    case .unknown: code = .notFound
    case .diskFull: code = .diskFull
    case .damaged: code = .damaged
    case .tooNew: code = .tooNew
    case .busy: code = .locked
    default: code = .disk
    }
    self.init(code, error.problem, thing: error.thing, errno: error.errno)
  }

  private init(_ error: TransferFailure) {
    let isAddress = error.reason == .urlInvalid || error.reason == .schemeRefused
    self.init(
      isAddress ? .address : error.reason == .libraryRefused ? .unfit : .transfer,
      error.description,
      thing: error.url.isEmpty ? nil : error.url,
      status: error.status
    )
  }
}
