import CGlibc
import Glibc

/// The reason why larder could not carry out a request: a code, the sentence, and the remedy.
///
/// A picture, detail or section that fails within a run is no error but a part of the report.
public struct LarderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error, such as ``Code/diskFull``.
  public let code: Code
  /// The sentence without the remedy: "cannot VERB THING: REASON".
  ///
  /// Advice that needs no option of a command is a part of it, after a semicolon.
  public let problem: String
  /// The advice, where a command has an option or a command for it.
  public let remedy: Remedy?
  /// The path, URL, key or id that it is about, when it is about one.
  public let thing: String?
  /// The operating system's number for it, when that is the cause.
  public let errno: Int32?
  /// The HTTP status that is the cause, when one is.
  public let status: Int?

  /// Makes an error from its code, its sentence and its details.
  package init(
    _ code: Code,
    _ problem: String,
    remedy: Remedy? = nil,
    thing: String? = nil,
    errno: Int32? = nil,
    status: Int? = nil
  ) {
    self.code = code
    self.problem = problem
    self.remedy = remedy
    self.thing = thing
    self.errno = errno
    self.status = status
  }

  /// The whole sentence: "cannot VERB THING: REASON; TRY THIS".
  public var description: String {
    problem + (remedy.map { "; \($0.rawValue)" } ?? "")
  }

  /// The operating system's refusal to do `verb` to `thing`; the remedy is left out where the disk is full.
  package static func system(
    _ verb: String,
    _ thing: String,
    errno code: Int32,
    remedy: Remedy?
  ) -> LarderError {
    let isFull = code == ENOSPC || code == EDQUOT
    let words = isFull ? "no space left; free some and run again" : systemMessage(code)
    return LarderError(
      isFull ? .diskFull : .disk,
      "cannot \(verb) \(thing): \(words)",
      remedy: isFull ? nil : remedy,
      thing: thing,
      errno: code
    )
  }
}

/// The system's own words for an error number, in lower case as they go in a sentence: "permission denied".
package func systemMessage(_ errno: Int32) -> String {
  String(cString: larder_error_words(errno))
}

extension LarderError {
  /// The class of an error, which decides how a process ends.
  package enum Kind: String, Codable, Sendable {
    /// It could not be done, for a reason of its own.
    case failed
    /// The request cannot be carried out as given, such as a wrong argument.
    case usage
    /// The data does not have the expected form.
    case data
    /// The other side does not answer, or refuses.
    case unavailable
    /// The disk or the cache is at fault.
    case io
    /// It may pass.
    case tryAgain = "try-again"
    /// The catalog file or the environment is at fault.
    case configuration
  }

  /// The kind of an error, as a stable word and a class.
  ///
  /// An open set: new members break nobody.
  public struct Code: Hashable, Sendable {
    /// The word that scripts may rely on; codes of two classes may share one.
    public let rawValue: String
    /// The class.
    package let kind: Kind

    /// Makes a code from its word and its class.
    package init(_ word: String, _ kind: Kind) {
      rawValue = word
      self.kind = kind
    }

    /// Makes the code of all errors of a class that need no word of their own.
    private init(_ kind: Kind) { self.init(kind.rawValue, kind) }
  }
}

// MARK: Codes of every module

extension LarderError.Code {
  /// It could not be done.
  package static let failed = Self(.failed)
  /// The request contradicts itself, or cannot be carried out.
  public static let usage = Self(.usage)
  /// A file does not have the expected content.
  package static let data = Self(.data)
  /// Nothing could be fetched.
  package static let unavailable = Self(.unavailable)
  /// A file cannot be written.
  package static let io = Self(.io)
  /// Something is not there yet, or failed for a reason that may pass.
  package static let tryAgain = Self(.tryAgain)
  /// An address of the catalog file cannot be used.
  package static let configuration = Self(.configuration)

  /// The disk, or a quota on it, is full.
  public static let diskFull = Self("disk-full", .io)
  /// The operating system refused a file operation; see ``LarderError/errno``.
  public static let disk = Self("disk", .io)
  /// A file of larder is not as larder wrote it.
  public static let damaged = Self("damaged", .io)
  /// A newer larder wrote the file.
  public static let tooNew = Self("too-new", .io)
  /// Another process or task holds the cache, or the orders.
  public static let locked = Self("locked", .tryAgain)
  /// Another process, or a store, is busy for too long.
  package static let busy = Self("busy", .tryAgain)
  /// An order is refused: sold out, without a price, beyond the budget, or in another state.
  public static let refused = Self("refused", .failed)
}

// MARK: Codes of the library

extension LarderError.Code {
  /// The catalog, or the environment that it needs, is wrong.
  public static let catalog = Self("catalog", .configuration)
  /// A URL cannot be used.
  public static let address = Self("address", .configuration)
  /// An argument is outside the allowed range.
  public static let argument = Self("argument", .usage)
  /// There is no cache, it is empty, or it lacks the requested thing.
  public static let notFound = Self("not-found", .failed)
  /// The folder, or a library of this machine, is not fit for it.
  public static let unfit = Self("unfit", .failed)
  /// A transfer failed; see ``LarderError/status``.
  public static let transfer = Self("transfer", .unavailable)
}

// MARK: Codes of caches, orders and shards

extension LarderError.Code {
  /// There is no cache at this path, or nothing in it yet.
  package static let empty = Self("empty", .failed)
  /// Several things match the request.
  package static let ambiguous = Self("ambiguous", .usage)
  /// A library of this machine is too old for larder.
  package static let oldLibrary = Self("unsupported", .failed)
  /// The folder's file system or owner makes it unfit to hold a cache.
  package static let unfitFolder = Self("unfit", .io)
  /// The store that keeps the pictures asks for less, or fails for a while.
  package static let storeBusy = Self("store-busy", .tryAgain)
  /// The store that keeps the pictures refuses, or cannot be reached.
  package static let storeRefused = Self("store-refused", .unavailable)
  /// The store's name is malformed, or the environment lacks a variable.
  package static let storeUnnamed = Self("store-unnamed", .usage)

  /// No order has this id.
  package static let unknown = Self("unknown", .failed)
  /// The order's state does not allow it.
  package static let state = Self("state", .failed)

  /// A picture that a shard placed is gone or damaged.
  package static let lost = Self("lost", .io)
}

// MARK: Codes of object stores

extension LarderError.Code {
  /// The text names no place in a store.
  package static let storeLocation = Self("location", .usage)
  /// The environment lacks a variable that a store needs, or has a wrong value.
  package static let storeEnvironment = Self("environment", .usage)
  /// The store refuses: the key, the signature, the right to do it.
  package static let storeDenied = Self("refused", .unavailable)
  /// The object store does not answer.
  package static let storeUnreachable = Self("unreachable", .unavailable)
  /// The store does something else than it should.
  package static let storeUnfit = Self("unfit", .unavailable)
  /// The object that was to be made is there.
  package static let objectExists = Self("exists", .usage)
  /// There is no such object.
  package static let objectMissing = Self("missing", .unavailable)
}

// MARK: Codes of pictures

extension LarderError.Code {
  /// The bytes are not a picture, or a kind of picture that is not read here.
  public static let unsupported = Self("unsupported", .data)
  /// The picture is of a kind that is known, and not read here.
  public static let unreadKind = Self("unread-kind", .data)
  /// The picture breaks the rules of its format, or ends too early to be of use.
  public static let damagedPicture = Self("damaged", .data)
  /// The picture is larger than the limits allow.
  public static let tooLarge = Self("too-large", .data)
  /// No font, or none with the letters that were asked for.
  public static let noFont = Self("no-font", .data)
  /// The time, zone or locale of a stamp cannot be made out.
  public static let time = Self("time", .usage)
  /// The picture to be stamped does not say when it was taken.
  public static let undated = Self("undated", .data)
  /// The output is there already.
  public static let exists = Self("exists", .failed)
  /// The input is not there, or may not be read.
  public static let unreadable = Self("unreadable", .data)
  /// A library that pictures are read or made with was built without this work.
  public static let library = Self("library", .data)
  /// Work on the picture took more processor time than one of its size may take.
  public static let overTime = Self("over-time", .data)
  /// Work on the picture ended its process: it took more memory than it may, or a library crashed.
  public static let crashed = Self("crashed", .data)
  /// The worker process for a picture cannot be started, or was killed from outside.
  public static let worker = Self("worker", .data)
  /// Work on the picture was stopped, as the caller wished.
  public static let stopped = Self("stopped", .data)
  /// The picture was made, and the server that it was for did not take it.
  public static let undelivered = Self("undelivered", .data)
  /// The picture was made, and the server that it was for could not be reached.
  public static let unreachable = Self("unreachable", .data)
}

extension LarderError {
  /// Advice about an error; a command adds which of its options does it.
  public enum Remedy: String, Codable, Sendable, Hashable {
    /// Repair the cache, then sync.
    case repair = "repair the cache, then sync again"
    /// Repair the cache, which rebuilds the index.
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

    /// Look at all orders.
    case list = "look at the orders there are"
    /// Look at the order's history.
    case history = "its history tells"
    /// Say who orders.
    case giveName = "give one"
    /// Order less, or allow more.
    case budget = "order less, or raise the budget"
    /// Order it although it is sold out.
    case anyway = "it can be ordered all the same"
    /// Choose a file.
    case nameFile = "name a file"
    /// Choose a file that can be written.
    case writableFile = "choose a file you may write"
    /// Give a secret, or none on purpose.
    case secret = "give whsec_…, or send unsigned if nobody checks"

    /// Take the file's time, or the present one.
    case otherTime = "use the file's time or the present one"
    /// Take the present time.
    case presentTime = "use the present time"
    /// Let the picture be re-encoded.
    case encodeAnew = "let it be re-encoded"
    /// Make the picture smaller, or raise the limit.
    case smallerOrMorePixels = "make it smaller first, or allow more pixels"
    /// Raise the limit.
    case morePixels = "allow more pixels"
    /// Let the file be replaced.
    case replace = "allow it to be replaced"
    /// Run again, and allow existing output to be replaced.
    case again = "run again and allow it to be replaced"

    /// Choose another folder for the measurement.
    case otherScratch = "choose another folder for it"
    /// Measure again, and keep that as the baseline.
    case newBaseline = "make it anew"
  }
}
