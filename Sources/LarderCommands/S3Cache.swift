import Base
import Cache
import CurlTransport
import Foundation
import ObjectStore
import Pipeline

/// A command's cache: a folder, or a store and a folder of this machine for its other data.
struct CachePlace {
  /// The folder: of the cache, or of this machine's data about a store.
  let path: String
  /// The store; nil for a folder.
  let store: S3Cache?

  /// The store that keeps the pictures instead of the folder; nil without one.
  var remote: (any RemotePictures)? { store?.pictures }
  /// As people call it.
  var name: String { store.map { "\($0.location)" } ?? path }
}

/// A cache in an object store: its pictures there; its index, its lock and its temporary files in a folder of this
/// machine.
final class S3Cache {
  /// Where the pictures are.
  let location: S3Location
  /// The folder of this machine.
  let folder: String
  /// The pictures.
  let pictures: S3Pictures
  /// The store.
  let store: ObjectStore
  private let transport: CurlTransport

  /// Opens a cache; asks nothing yet.
  ///
  /// - Parameters:
  ///   - text: `s3://bucket/prefix`.
  ///   - log: Where it is said that the store is asked without encryption; nil for nowhere.
  /// - Throws: ``CommandFailure`` that names the missing part of the text or the environment; errors of starting a
  ///   transport.
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
      "\(location) is asked over plain http: requests are signed, but others on the way can read them "
        + "and change the answers; give AWS_ENDPOINT_URL_S3 as https://…"
    )
  }

  deinit { transport.shutdown() }

  /// Reads a place in a store.
  ///
  /// - Throws: ``CommandFailure``.
  static func location(_ text: String) throws -> S3Location {
    guard S3Location.isMeant(by: text) else {
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

  /// The folder of this machine for a store: below `LARDER_STATE`, else `$XDG_CACHE_HOME/larder`, else `~/.cache/larder`.
  private static func folder(
    of location: S3Location,
    _ environment: S3Environment,
    _ variables: [String: String]
  ) -> String {
    func value(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
    let home = value("HOME") ?? NSHomeDirectory()
    let base =
      value("LARDER_STATE") ?? (value("XDG_CACHE_HOME") ?? "\(home)/.cache") + "/larder"
    // A plus sign is in no bucket and no prefix: two places never share a folder.
    let prefix = location.prefix.isEmpty ? "" : "+" + location.prefix.replacing("/", with: "+")
    return "\(base)/s3/\(environment.nickname)/\(location.bucket)\(prefix)"
  }

  /// How a store is asked.
  private static func options(_ environment: S3Environment) throws -> TransportOptions {
    var options = TransportOptions()
    options.parallel = .fixed(64)
    options.perHost = .fixed(64)
    options.caFile = try environment.certificates.map { try CertificateFile.read($0).path }
    options.proxy = try ProxyArgument.route(nil)
    options.userAgent = "larder/\(LarderCommand.version)"
    return options
  }
}

extension CachePlace {
  /// Demands that no squares are asked for where they cannot be kept.
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
