import ArgumentParser
import Catalog
import Foundation
import SampleStore

/// A server with generated pictures, and the options that describe it.
///
/// `bench --origin sample` measures how fast the pictures are fetched from it. The user sets their number, their sizes,
/// the delay and the bandwidth.
///
/// The same options always give the same pictures, so that measurements can be compared.
struct SampleOrigin: ParsableArguments {
  private static let sections = 10
  /// The first and the last marker of a JPEG.
  ///
  /// Padding between them gives each picture its size.
  private static let base: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]
  /// The pictures are generated in advance if all of them together have at most this number of bytes.
  ///
  /// Larger sets are generated while they are sent.
  private static let kept = 1 << 30

  /// The values of `--origin`.
  enum Origin: String, ExpressibleByArgument, CaseIterable {
    case sample
  }

  @Option("Measure the embedded store: sample.", value: "sample")
  var origin: Origin?

  @Option(
    "The number of pictures (default: 1000), or of requests in a pass over URLs.",
    value: "n",
    read: WholeNumber.reader(1...1_000_000)
  )
  var count: Int?

  @Option("The size of the pictures, such as 500K. (default: 8K..40K)", value: "size")
  var sizes: SizesArgument?

  @Option("The delay before each picture. (default: none)", value: "time")
  var delay: DurationArgument?

  @Option("The bandwidth of its connection, such as 10M/s. (default: no limit)", value: "size/s")
  var bandwidth: BandwidthArgument?

  /// The number of pictures that the embedded server has.
  var pictures: Int { count ?? 1000 }

  /// The smallest and the largest size of a picture, in bytes.
  var bytes: ClosedRange<Int> { sizes?.bytes ?? 8 << 10...40 << 10 }

  mutating func validate() throws {
    if let delay, delay.seconds > 60 { throw ValidationError("--delay takes 60s at most") }
  }

  /// Whether `--origin sample` is given.
  var isAsked: Bool { origin != nil }

  /// The arguments of the command that starts this origin in a separate process.
  var arguments: [String] {
    let sizes = "\(bytes.lowerBound)B..\(bytes.upperBound)B"
    return ["bench-origin", "--count", "\(pictures)", "--sizes", sizes]
      + (delay.map { ["--delay", String(format: "%.9fs", $0.seconds)] } ?? [])
      + (bandwidth.map { ["--bandwidth", "\(Int64($0.bytesPerSecond))B/s"] } ?? [])
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
    let delay = delay?.seconds ?? 0
    let store = try SampleStore.start(
      content(),
      faults: delay > 0 ? FaultScript([FaultRule("/p/*", .delay(seconds: delay))]) : .none,
      bytesPerSecond: bandwidth?.bytesPerSecond
    )
    defer { store.stop() }
    store.journalsRequests = false
    Output.data(store.baseURL)
    _ = try FileReading.standardInput(limit: 1 << 20)
  }

  private func content() throws(SampleError) -> SampleContent {
    let picture = try Picture(Self.base)
    let content = SampleContent { path in
      guard path.hasPrefix("/p/"), path.hasSuffix(".jpg"),
        let number = Int(path.dropFirst(3).dropLast(4)), (0..<pictures).contains(number)
      else { return nil }
      return picture.resource(path, byteCount: size(of: number))
    }
    if (bytes.lowerBound + bytes.upperBound) / 2 * pictures <= Self.kept {
      for path in (0..<pictures).map({ "/p/\($0).jpg" }) {
        content[path] = content.fallback?(path)
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
    let span = UInt64(bytes.count)
    var bits = UInt64(number &+ 1) &* 0x9E37_79B9_7F4A_7C15
    bits ^= bits >> 29
    return bytes.lowerBound + Int((bits &* 0xBF58_476D_1CE4_E5B9 >> 11) % span)
  }

  private func list(_ section: Int) -> String {
    let first = section * pictures / Self.sections
    let end = (section + 1) * pictures / Self.sections
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
    // The process writes its URL and a line feed at once, so that one read returns both.
    let line = answers.fileHandleForReading.availableData
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

/// Sizes on the command line: one size such as `500K`, or a range such as `8K..40K`.
struct SizesArgument: UnitArgument {
  static let forms = "64B, 500K or 8K..40K, up to 64M"

  let bytes: ClosedRange<Int>

  init?(argument: String) {
    let parts = argument.components(separatedBy: "..").map { SizeArgument(argument: $0) }
    guard parts.count <= 2, let first = parts[0]?.bytes.count,
      let last = parts[parts.count - 1]?.bytes.count,
      first <= last, (64...64 << 20).contains(first), last <= 64 << 20
    else { return nil }
    bytes = Int(first)...Int(last)
  }
}

/// A number of bytes a second on the command line, such as `10M/s`.
struct BandwidthArgument: UnitArgument {
  static let forms = "500K/s or 10M/s"

  let bytesPerSecond: Double

  init?(argument: String) {
    guard argument.hasSuffix("/s"),
      let bytes = SizeArgument(argument: String(argument.dropLast(2)))?.bytes
    else { return nil }
    bytesPerSecond = Double(bytes.count)
  }
}
