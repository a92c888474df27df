import ArgumentParser
import Base
import CurlTransport
import Foundation
import ObjectStore
import Pipeline

/// The cache of a command: a folder, or an object store such as S3 for the pictures and a local folder for the rest.
struct CachePlace {
  /// The folder of the cache.
  ///
  /// For an object store, it is the local folder with the index, the lock and temporary files. The index is the SQLite
  /// database that lists the pictures and the runs.
  let path: String
  /// The object store; nil when the cache is a folder.
  var store: ObjectStore?
  /// The pictures in the object store; nil if the pictures are in the folder.
  var remote: S3Pictures?

  /// The name of the cache in messages: its location, such as `s3://bucket/prefix`, or its path.
  var name: String { store.map { "\($0.location)" } ?? path }
}

extension CachePlace {
  /// Opens a cache.
  ///
  /// No request is sent yet.
  ///
  /// - Parameters:
  ///   - text: A folder, or `s3://bucket/prefix`.
  ///   - log: Receives a warning if the store is used without encryption; with nil, there is no warning.
  /// - Throws: ``LarderError`` for an invalid location or a missing variable; the transport's error if it cannot start.
  init(_ text: String, _ log: Log?) throws {
    self.init(path: text)
    guard Self.isAddress(text) else { return }
    let location = try S3Location(parsing: text)
    let environment = try S3Environment(ProcessInfo.processInfo.environment)
    var options = TransportOptions()
    options.parallel = .fixed(64)
    options.perHost = .fixed(64)
    options.caFile = try environment.certificates.map(CertificateFile.read)
    options.proxy = try ProxyArgument.route(nil)
    options.userAgent = "larder/\(LarderCommand.version)"
    let store = ObjectStore(location, environment, transport: try CurlTransport(options))
    self.init(
      path: Self.folder(of: location, environment),
      store: store,
      remote: S3Pictures(store)
    )
    guard store.isUnencrypted else { return }
    log?.warning(
      "\(location) is used over plain http: requests are signed, but others on the way can read them "
        + "and change the answers; give AWS_ENDPOINT_URL_S3 as https://…"
    )
  }

  /// Whether a text is not the name of a folder: a URL, or an attempt at one such as `s3:/bucket`.
  static func isAddress(_ text: String) -> Bool {
    text.contains("://") || text.lowercased().hasPrefix("s3:")
  }

  /// Checks that an option's value is a folder, or a location such as `s3://bucket/prefix`.
  ///
  /// - Parameters:
  ///   - value: The option's value.
  ///   - prefix: The beginning of the error's message, such as `--out: `.
  /// - Throws: `ValidationError` when the value is neither.
  static func demand(_ value: String, _ prefix: String = "") throws {
    guard Self.isAddress(value) else { return }
    guard S3Location.isLocation(value) else {
      throw ValidationError(
        "\(prefix)cannot use \"\(value)\": a cache is a folder or s3://bucket/prefix"
      )
    }
    do throws(LarderError) {
      _ = try S3Location(parsing: value)
    } catch {
      throw ValidationError("\(prefix)\(error)")
    }
  }

  /// The local folder for a store.
  ///
  /// It is below `LARDER_STATE`, or else `$XDG_CACHE_HOME/larder`, or else `~/.cache/larder`.
  private static func folder(of location: S3Location, _ environment: S3Environment) -> String {
    let variable = OutboxOptions.variable
    let home = variable("HOME") ?? NSHomeDirectory()
    let base =
      variable("LARDER_STATE") ?? (variable("XDG_CACHE_HOME") ?? "\(home)/.cache") + "/larder"
    // Buckets and prefixes have no plus sign, so two locations never share a folder.
    let prefix = location.prefix.isEmpty ? "" : "+" + location.prefix.replacing("/", with: "+")
    return "\(base)/s3/\(environment.nickname)/\(location.bucket)\(prefix)"
  }

  /// Refuses `--square` for a cache in an object store, where squares cannot be kept.
  ///
  /// - Throws: ``CommandFailure``.
  func demandNoSquares(_ options: SyncOptions) throws {
    guard store != nil, options.squareSide != nil else { return }
    throw CommandFailure(
      "cannot keep squares in \(name): squares are kept in folders; leave --square out"
    )
  }
}
