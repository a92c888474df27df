import Base
import Cache
import CurlTransport
import Pipeline
import Support
import Synchronization
import Transport

/// A picture whose server has one fault, and the result that a sync should have.
struct MatrixCase: Sendable {
  /// The expected result.
  enum End: Sendable {
    /// The picture is stored with exactly these bytes.
    case held([UInt8])
    /// The picture failed for one of these reasons, and no file is stored.
    case refused([FailureReason])
  }

  let name: String
  let end: End
  let actions: @Sendable (ScriptedServer.Received) -> [ScriptedServer.Action]

  /// Makes a case in which all answers are the same.
  init(_ name: String, _ end: End, _ actions: ScriptedServer.Action...) {
    self.init(name, end) { _ in actions }
  }

  /// Makes a case in which the answer depends on the request.
  init(
    _ name: String,
    _ end: End,
    _ actions: @escaping @Sendable (ScriptedServer.Received) -> [ScriptedServer.Action]
  ) {
    self.name = name
    self.end = end
    self.actions = actions
  }

  /// A picture of `count` bytes that differs for each seed.
  static func picture(_ seed: Int, count: Int = 3000) -> [UInt8] {
    var random = SplitMix64(UInt64(seed))
    // The middle contains no byte that could start a marker.
    let middle = random.bytes(count - 6, mask: 0x7F)
    return [0xFF, 0xD8, 0xFF, 0xE0] + middle + [0xFF, 0xD9]
  }
}

/// A catalog with one local section that lists the given picture URLs.
struct Matrix {
  let folder: TemporaryFolder
  private let urls: [String]

  /// Writes the catalog's section with one item for each URL.
  init(_ urls: [String], _ folder: TemporaryFolder) throws {
    self.folder = folder
    self.urls = urls
    let items = urls.enumerated().map {
      #"{"id": "\#($0)", "title": "\#($0)", "image": "\#($1)"}"#
    }
    try folder.write("[\(items.joined(separator: ","))]", to: "list.json")
  }

  /// Syncs the pictures into the folder's cache.
  func sync(_ change: (inout TransportOptions) -> Void = { _ in }) throws -> SyncReport {
    var options = TransportOptions()
    options.allowPrivateAddresses = true
    options.parallel = .fixed(48)
    options.retry.retries = 0
    options.retry.firstDelay = .milliseconds(1)
    options.breaker.failures = .max
    options.deadline = .now() + .seconds(120)
    change(&options)
    let curl = try CurlTransport(options)
    defer { curl.shutdown() }
    var limits = SyncOptions()
    // Large enough to be written in pieces, but not too much for a busy machine.
    limits.pictureLimit = .mebibytes(8)
    let run = SyncRun(
      try .init(
        parsing: Array(
          "name: m\ncurrency: KRW\nsections: [{key: A, title: A, url: list.json}]".utf8
        ),
        file: "m.yaml"
      ),
      folder: folder.path,
      cache: folder.path("cache"),
      options: limits,
      transport: curl,
      disk: SystemDisk(durable: false),
      now: { UnixTime.now() }
    )
    return try run.run(holder: "a test")
  }

  /// The bytes of a picture in the cache; nil if there is no file.
  func held(_ url: String) -> [UInt8]? {
    try? folder.read("cache/" + PictureName(url: url, id: PictureID(url: url)).path)
  }
}
