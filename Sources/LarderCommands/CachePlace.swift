import ArgumentParser
import Base
import Cache
import CurlTransport
import Foundation
import ObjectStore
import Pipeline

/// The cache of a command: a folder, or an object store such as S3 for the pictures and a local folder for the rest.
///
/// The index is the SQLite database that lists the pictures and the runs.
struct CachePlace {
  /// The folder of the cache; for an object store, the local folder with the index.
  let path: String
  /// The object store; nil when the cache is a folder.
  let store: S3Cache?

  /// The pictures in the object store; nil if the pictures are in the folder.
  var remote: (any RemotePictures)? { store?.pictures }
  /// The name of the cache in messages: its location, such as `s3://bucket/prefix`, or its path.
  var name: String { store.map { "\($0.location)" } ?? path }
}

/// A cache in an object store.
///
/// Only the pictures are in the store. The index, the lock and temporary files are in a local folder.
final class S3Cache {
  /// The location of the pictures.
  let location: S3Location
  let folder: String
  let pictures: S3Pictures
  let store: ObjectStore
  private let transport: CurlTransport

  /// Opens a cache.
  ///
  /// No request is sent yet.
  ///
  /// - Parameters:
  ///   - text: `s3://bucket/prefix`.
  ///   - log: Receives a warning if the store is used without encryption; with nil, there is no warning.
  /// - Throws: ``CommandFailure`` for an invalid location or a missing variable; the transport's error if it cannot
  ///   start.
  init(_ text: String, _ log: Log?) throws {
    location = try Self.location(text)
    let variables = ProcessInfo.processInfo.environment
    let environment = try S3Environment(variables)
    folder = Self.folder(of: location, environment, variables)
    transport = try CurlTransport(try Self.options(environment))
    store = ObjectStore(location, environment, transport: transport)
    pictures = S3Pictures(store)
    guard store.isUnencrypted else { return }
    log?.warning(
      "\(location) is used over plain http: requests are signed, but others on the way can read them "
        + "and change the answers; give AWS_ENDPOINT_URL_S3 as https://…"
    )
  }

  deinit { transport.shutdown() }

  /// Parses a location such as `s3://bucket/prefix`.
  ///
  /// - Throws: ``CommandFailure``.
  static func location(_ text: String) throws -> S3Location {
    guard S3Location.isLocation(text) else {
      throw CommandFailure(
        "cannot use \"\(text)\": a cache is a folder or s3://bucket/prefix",
        .usage
      )
    }
    do throws(LarderError) {
      return try S3Location(parsing: text)
    } catch {
      throw CommandFailure(error.description, .usage)
    }
  }

  /// Checks that an option's value is a folder, or a location such as `s3://bucket/prefix`.
  ///
  /// - Parameters:
  ///   - value: The option's value.
  ///   - prefix: The beginning of the error's message, such as `--out: `.
  /// - Throws: `ValidationError` when the value is neither.
  static func demandPlace(_ value: String, _ prefix: String = "") throws {
    guard value.contains("://") else { return }
    do {
      _ = try location(value)
    } catch let error as CommandFailure {
      throw ValidationError(prefix + (error.message ?? ""))
    }
  }

  /// The local folder for a store.
  ///
  /// It is below `LARDER_STATE`, or else `$XDG_CACHE_HOME/larder`, or else `~/.cache/larder`.
  private static func folder(
    of location: S3Location,
    _ environment: S3Environment,
    _ variables: [String: String]
  ) -> String {
    func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
    let home = value("HOME") ?? NSHomeDirectory()
    let base =
      value("LARDER_STATE") ?? (value("XDG_CACHE_HOME") ?? "\(home)/.cache") + "/larder"
    // Buckets and prefixes have no plus sign, so two locations never share a folder.
    let prefix = location.prefix.isEmpty ? "" : "+" + location.prefix.replacing("/", with: "+")
    return "\(base)/s3/\(environment.nickname)/\(location.bucket)\(prefix)"
  }

  /// The transport's options for a store.
  private static func options(_ environment: S3Environment) throws -> TransportOptions {
    var options = TransportOptions()
    options.parallel = .fixed(64)
    options.perHost = .fixed(64)
    options.caFile = try environment.certificates.map(CertificateFile.read)
    options.proxy = try ProxyArgument.route(nil)
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}

extension CachePlace {
  /// Refuses `--square` for a cache in an object store, where squares cannot be kept.
  ///
  /// - Throws: ``CommandFailure``.
  func demandNoSquares(_ options: SyncOptions) throws {
    guard let store, options.squareSide != nil else { return }
    throw CommandFailure(
      "cannot keep squares in \(store.location): squares are kept in folders; leave --square out",
      .usage
    )
  }
}
