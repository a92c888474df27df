import CGlibc
import Glibc

/// The error that larder throws.
///
/// It has a code for programs, a sentence for people, and advice.
///
/// If only a picture, a section or the document about an item cannot be fetched, a run throws no error. The failure is
/// a part of the run's report.
public struct LarderError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The kind of error, such as `diskFull`.
  public let code: Code
  /// The sentence without the remedy: "cannot VERB THING: REASON".
  ///
  /// The sentence can end with a semicolon and advice. That advice mentions no option of a command.
  public let problem: String
  /// The advice that follows the sentence.
  ///
  /// A command words the advice in terms of its own options.
  public let remedy: Remedy?
  /// The path, URL, key or id that the error is about; nil if there is none.
  public let thing: String?
  /// The `errno` of the failed system call; nil if no system call failed.
  public let errno: Int32?
  /// The HTTP status that caused the error; nil if no status caused it.
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

  /// The error for a failed system call: "cannot VERB THING: permission denied".
  ///
  /// If the disk or a quota on it is full, the error has a code of its own, and its own advice instead of `remedy`.
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

/// The text of `strerror(3)` in lower case, such as "permission denied", so that it can be a part of a sentence.
package func systemMessage(_ errno: Int32) -> String {
  String(cString: larder_error_words(errno))
}

extension LarderError {
  /// The class of an error, which decides the exit status of a command.
  package enum Kind: String, Codable, Sendable {
    /// The request could not be carried out, for a reason that no other class covers.
    case failed
    /// The request cannot be carried out as given, for example because an argument is wrong.
    case usage
    /// The data does not have the expected form.
    case data
    /// A server does not answer, or refuses the request.
    case unavailable
    /// A file of the cache or the disk cannot be read or written, or is damaged.
    case io
    /// The cause is temporary.
    case tryAgain = "try-again"
    /// The catalog file or the environment is at fault.
    case configuration
  }

  /// The kind of an error, as a stable word and a class.
  ///
  /// Later versions may add codes.
  public struct Code: Hashable, Sendable, Codable {
    /// A stable word for scripts, such as `disk-full`.
    ///
    /// Two codes of different classes can have the same word.
    public let rawValue: String
    /// The class.
    package let kind: Kind

    /// Makes a code from its word and its class.
    package init(_ word: String, _ kind: Kind) {
      rawValue = word
      self.kind = kind
    }

    /// Makes the code whose word is the name of its class, for errors that need no word of their own.
    private init(_ kind: Kind) { self.init(kind.rawValue, kind) }
  }
}

// MARK: Codes of every module

extension LarderError.Code {
  /// The request could not be carried out.
  package static let failed = Self(.failed)
  /// The request contradicts itself, or cannot be carried out as given.
  public static let usage = Self(.usage)
  /// A file does not have the expected content.
  package static let data = Self(.data)
  /// Nothing could be fetched.
  package static let unavailable = Self(.unavailable)
  /// A file cannot be written.
  package static let io = Self(.io)
  /// Something is not there yet, or failed for a temporary reason.
  package static let tryAgain = Self(.tryAgain)
  /// An address in the catalog file cannot be used.
  package static let configuration = Self(.configuration)

  /// The disk, or a quota on it, is full.
  public static let diskFull = Self("disk-full", .io)
  /// The operating system refused a file operation; see ``LarderError/errno``.
  public static let disk = Self("disk", .io)
  /// A file of larder is not as larder wrote it.
  public static let damaged = Self("damaged", .io)
  /// A newer larder wrote the file.
  public static let tooNew = Self("too-new", .io)
  /// Another process or task has locked the cache or the orders.
  public static let locked = Self("locked", .tryAgain)
  /// Another process or an object store was busy for too long.
  package static let busy = Self("busy", .tryAgain)
  /// The order is refused: an item is sold out or has no price, the total exceeds the budget, or the order's state
  /// forbids it.
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
  /// The folder cannot be used for the request, or a library of this machine cannot.
  public static let unfit = Self("unfit", .failed)
  /// A transfer failed; see ``LarderError/status``.
  public static let transfer = Self("transfer", .unavailable)
}

// MARK: Codes of caches, orders and shards

extension LarderError.Code {
  /// There is no cache at this path, or there is nothing in the cache yet.
  package static let empty = Self("empty", .failed)
  /// Several things match the request.
  package static let ambiguous = Self("ambiguous", .usage)
  /// A library of this machine is too old for larder.
  package static let oldLibrary = Self("unsupported", .failed)
  /// The folder's file system or owner makes it unfit to hold a cache.
  package static let unfitFolder = Self("unfit", .io)

  /// No order has this id.
  package static let unknown = Self("unknown", .failed)
  /// The order's state does not allow the action.
  package static let state = Self("state", .failed)

  /// A picture that a shard stored is gone or damaged.
  package static let lost = Self("lost", .io)
}

// MARK: Codes of object stores

extension LarderError.Code {
  /// The store limits the rate of requests, or fails temporarily.
  package static let storeBusy = Self("store-busy", .tryAgain)
  /// The store refuses the access key, the signature or the action, or cannot be reached.
  package static let storeRefused = Self("store-refused", .unavailable)
  /// The text is not an `s3://` location, or the environment lacks a variable that a store needs.
  package static let storeUnnamed = Self("store-unnamed", .usage)
  /// The store's reply does not follow the S3 protocol.
  package static let storeUnfit = Self("store-unfit", .unavailable)
  /// The object to create exists already.
  package static let objectExists = Self("exists", .usage)
  /// There is no such object.
  package static let objectMissing = Self("missing", .unavailable)
}

// MARK: Codes of pictures

extension LarderError.Code {
  /// The bytes are not a picture, or are a picture in an unknown format.
  public static let unsupported = Self("unsupported", .data)
  /// The picture has a format that larder recognizes but cannot decode.
  public static let unreadKind = Self("unread-kind", .data)
  /// The picture violates its format, or is truncated too early to be of use.
  public static let damagedPicture = Self("damaged", .data)
  /// The picture is larger than the limits allow.
  public static let tooLarge = Self("too-large", .data)
  /// There is no font, or none with all the letters of the text.
  public static let noFont = Self("no-font", .data)
  /// The time, time zone or locale of a stamp cannot be parsed.
  public static let time = Self("time", .usage)
  /// The picture to be stamped does not say when it was taken.
  public static let undated = Self("undated", .data)
  /// The output exists already.
  public static let exists = Self("exists", .failed)
  /// The input does not exist, or larder is not allowed to read it.
  public static let unreadable = Self("unreadable", .data)
  /// A picture library of this machine was built without the needed feature.
  public static let library = Self("library", .data)
  /// Work on the picture took more processor time than its size allows.
  public static let overTime = Self("over-time", .data)
  /// The worker process for the picture died: it exceeded its memory limit, or a library crashed.
  public static let crashed = Self("crashed", .data)
  /// The worker process for a picture cannot be started, or was killed from outside.
  public static let worker = Self("worker", .data)
  /// The caller stopped the work on the picture.
  public static let stopped = Self("stopped", .data)
  /// The picture was made, but the server that it was uploaded to refused it.
  public static let undelivered = Self("undelivered", .data)
  /// The picture was made, but the server to upload it to could not be reached.
  public static let unreachable = Self("unreachable", .data)
}

extension LarderError {
  /// Advice about an error: the last part of its message, after a semicolon.
  ///
  /// A command words the advice in terms of its own options.
  public enum Remedy: String, Codable, Sendable, Hashable {
    /// Repair the cache, then sync.
    case repair = "repair the cache, then sync again"
    /// Repair the cache, which rebuilds the index.
    case remake = "a repair rebuilds it and keeps the pictures"
    /// Choose a folder that belongs to the user.
    case ownFolder = "choose a folder of your own"
    /// Choose a folder that can be written.
    case writableFolder = "choose a folder that you can write to"
    /// Sync first.
    case sync = "sync first"
    /// Sync first, or choose another folder.
    case syncOrOtherFolder = "sync first, or choose another folder"
    /// Install the version that wrote the file, or a later one.
    case newerVersion = "install that version or later, or choose another folder"
    /// Name the catalog.
    case nameCatalog = "name one"

    /// List all orders.
    case list = "list the orders"
    /// Look at the order's history.
    case history = "look at its history"
    /// Give the name of the person who orders.
    case giveName = "give one"
    /// Order less, or raise the budget.
    case budget = "order less, or raise the budget"
    /// Order the item although it is sold out.
    case anyway = "you can order it anyway"
    /// Choose a file.
    case nameFile = "name a file"
    /// Choose a file that can be written.
    case writableFile = "choose a file that you can write to"
    /// Give a secret, or choose to send without a signature.
    case secret = "give whsec_…, or send unsigned if the receiver does not check"

    /// Stamp with the file's time, or the present time.
    case otherTime = "use the file's time or the current time"
    /// Stamp with the present time.
    case presentTime = "use the current time"
    /// Make the picture smaller, or raise the limit of pixels.
    case smallerOrMorePixels = "make it smaller first, or allow more pixels"
    /// Raise the limit of pixels.
    case morePixels = "allow more pixels"
    /// Let the file be replaced.
    case replace = "allow it to be replaced"
    /// Run again, and allow existing output to be replaced.
    case again = "run again and allow it to be replaced"

    /// Choose another folder for the measurement.
    case otherScratch = "choose another folder for it"
  }
}
