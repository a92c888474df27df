import Catalog
import Foundation
import Glibc
import SampleStore

/// A server with generated pictures.
///
/// `bench` measures how fast they are fetched from it.
///
/// The user sets the number of pictures, their sizes, the delay and the bandwidth.
///
/// The same options always give the same pictures, so that measurements can be compared.
struct SampleOrigin: Sendable {
  private static let sections = 10
  /// The first and the last marker of a JPEG.
  ///
  /// Padding between them gives each picture its size.
  private static let base: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]
  /// The pictures are generated in advance if all of them together have at most this number of bytes.
  ///
  /// Larger sets are generated while they are sent.
  private static let kept = 1 << 30

  private let options: OriginOptions

  init(_ options: OriginOptions) {
    self.options = options
  }

  /// The arguments of the command that starts this origin in a separate process.
  var arguments: [String] {
    var arguments = [
      "bench-origin", "--count", "\(options.pictures)", "--sizes", "\(options.sizes)",
    ]
    if let delay = options.delay { arguments += ["--delay", delay.argument] }
    if let bandwidth = options.bandwidth {
      arguments += ["--bandwidth", "\(Int64(bandwidth.bytesPerSecond))B/s"]
    }
    return arguments
  }

  /// The catalog file of the origin.
  ///
  /// `base` is the origin's base URL.
  func catalog(base: String) throws -> CatalogFile {
    let sections = (0..<Self.sections).map { "{key: s\($0), title: Section \($0), url: s\($0)}" }
    let yaml = """
      name: bench
      currency: KRW
      base: \(base)/
      sections: [\(sections.joined(separator: ", "))]
      """
    return try CatalogFile(parsing: Array(yaml.utf8), file: "the embedded store's catalog")
  }

  /// Serves the pictures until stdin ends.
  func serve() throws {
    // Ctrl-C is meant for the parent process. When the parent ends, stdin is closed, and so this process ends too.
    signal(SIGINT, SIG_IGN)
    let store: SampleStore
    do {
      let delay = options.delay?.seconds ?? 0
      store = try SampleStore.start(
        content(),
        faults: delay > 0 ? FaultScript([FaultRule("/p/*", .delay(seconds: delay))]) : .none,
        bytesPerSecond: options.bandwidth?.bytesPerSecond
      )
    } catch {
      throw CommandFailure(error.description, .failed)
    }
    defer { store.stop() }
    store.journalsRequests = false
    Output.data(store.baseURL)
    _ = try FileReading.standardInput(limit: 1 << 20)
  }

  private func content() throws(SampleError) -> SampleContent {
    let picture = try Picture(Self.base)
    let content = SampleContent()
    let average = (options.sizes.bytes.lowerBound + options.sizes.bytes.upperBound) / 2
    if average * options.pictures <= Self.kept {
      for number in 0..<options.pictures {
        let path = "/p/\(number).jpg"
        content[path] = picture.resource(path, byteCount: size(of: number))
      }
    } else {
      content.fallback = { path in
        guard path.hasPrefix("/p/"), path.hasSuffix(".jpg"),
          let number = Int(path.dropFirst(3).dropLast(4)), (0..<options.pictures).contains(number)
        else { return nil }
        return picture.resource(path, byteCount: size(of: number))
      }
    }
    for section in 0..<Self.sections {
      content["/s\(section)"] = Resource(json: list(section))
    }
    return content
  }

  /// The size of a picture: a pseudo-random number within the bounds.
  ///
  /// A picture's number always gives the same size.
  private func size(of number: Int) -> Int {
    let span = UInt64(options.sizes.bytes.count)
    var bits = UInt64(number &+ 1) &* 0x9E37_79B9_7F4A_7C15
    bits ^= bits >> 29
    return options.sizes.bytes.lowerBound + Int((bits &* 0xBF58_476D_1CE4_E5B9 >> 11) % span)
  }

  private func list(_ section: Int) -> String {
    let first = section * options.pictures / Self.sections
    let end = (section + 1) * options.pictures / Self.sections
    let items = (first..<end).map { number in
      """
      {"detail_hash": "B\(number)", "image": "/p/\(number).jpg", "alt": "반찬 \(number)", \
      "delivery_type": ["새벽배송"], "title": "반찬 \(number)", "description": "재는 데 쓰는 반찬", \
      "n_price": "8,000원", "s_price": "7,000원", "badge": []}
      """
    }
    return "[\(items.joined(separator: ","))]"
  }
}

/// The embedded origin in a process of its own, so that its CPU time and memory do not count as those of larder.
final class OriginProcess {
  /// The origin's URL, without a trailing slash.
  let baseURL: String
  private let process = Process()
  private let leash = Pipe()

  /// Starts the process, and waits until it serves.
  init(_ origin: SampleOrigin) throws {
    let answers = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = origin.arguments
    process.standardInput = leash
    process.standardOutput = answers
    do {
      try process.run()
    } catch {
      throw CommandFailure("cannot start the embedded origin: \(error); try again", .failed)
    }
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      let piece = answers.fileHandleForReading.availableData
      if piece.isEmpty { break }
      line += piece
    }
    baseURL = String(decoding: line.dropLast(), as: UTF8.self)
    guard baseURL.hasPrefix("http://") else {
      process.waitUntilExit()
      throw CommandFailure("the embedded origin did not start; see above", .failed)
    }
  }

  deinit {
    try? leash.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
