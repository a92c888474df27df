import CurlTransport
import Glibc
import Transport

/// The libraries that this process has or would open at need, each with the version that is installed.
struct LibraryVersions {
  /// How a library tells its version.
  private enum Telling: Sendable {
    /// A function that returns text.
    case text(String)
    /// A function that returns a number.
    case number(String, @Sendable (UInt32) -> LibraryVersion)
    /// A variable that holds the digits of a number.
    case digits(String, @Sendable (UInt32) -> LibraryVersion)
    /// A function that fills in three numbers.
    case three(String)
    /// By way of what transfers with it.
    case transport
    /// Not at all.
    case silent
  }

  private struct Library: Sendable {
    let name: String
    /// Of several, the first that is there.
    let files: [String]
    let use: String
    let telling: Telling
  }

  /// The files are those that the C modules open, or, of SQLite, the binary is linked with; a test compares them.
  private static let libraries = [
    Library(name: "libcurl", files: ["libcurl.so.4"], use: "transfers", telling: .transport),
    Library(
      name: "SQLite",
      files: ["libsqlite3.so.0"],
      use: "index and orders",
      telling: .text("sqlite3_libversion")
    ),
    Library(
      name: "libjpeg-turbo",
      files: ["libjpeg.so.62", "libjpeg.so.8"],
      use: "JPEG",
      telling: .silent
    ),
    Library(
      name: "TurboJPEG",
      files: ["libturbojpeg.so.0"],
      use: "turning JPEG without loss",
      telling: .silent
    ),
    Library(
      name: "libpng",
      files: ["libpng16.so.16"],
      use: "PNG",
      telling: .number("png_access_version_number", decimal)
    ),
    Library(
      name: "libwebp",
      files: ["libwebp.so.7"],
      use: "WebP",
      telling: .number("WebPGetEncoderVersion") { LibraryVersion(bits: $0) }
    ),
    Library(
      name: "libavif",
      files: ["libavif.so.16", "libavif.so.15"],
      use: "AVIF",
      telling: .text("avifVersion")
    ),
    Library(name: "giflib", files: ["libgif.so.7"], use: "GIF", telling: .silent),
    Library(
      name: "zimg",
      files: ["libzimg.so.2"],
      use: "scaling",
      telling: .three("zimg_get_version_info")
    ),
    Library(
      name: "lcms2",
      files: ["liblcms2.so.2"],
      use: "colour profiles",
      telling: .number("cmsGetEncodedCMMversion") {
        LibraryVersion(Int($0 / 1000), Int($0 % 1000 / 10), Int($0 % 10))
      }
    ),
    Library(
      name: "pixman",
      files: ["libpixman-1.so.0"],
      use: "blending",
      telling: .text("pixman_version_string")
    ),
    Library(
      name: "Pango",
      files: ["libpangocairo-1.0.so.0"],
      use: "writing on pictures",
      telling: .text("pango_version_string")
    ),
    Library(name: "jq", files: ["libjq.so.1"], use: "transform", telling: .silent),
    Library(
      name: "libxml2",
      files: ["libxml2.so.2"],
      use: "XML feeds and pages",
      telling: .digits("xmlParserVersion", decimal)
    ),
  ]

  /// Whether the arguments are `--version` and `-v`; the parser takes the first alone.
  static func areWanted(by arguments: [String]) -> Bool {
    let words = arguments.dropFirst()
    return words.count == 2 && words.contains("--version")
      && (words.contains("-v") || words.contains("--verbose"))
  }

  /// larder's version, then a line a library: name, version, what it is for.
  static var text: String {
    let rows = libraries.map { ($0.name, version(of: $0), use(of: $0)) }
    let (names, versions) = (
      rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0
    )
    func column(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count) + 2)
    }
    let lines = rows.map { column($0.0, names) + column($0.1, versions) + $0.2 }
    return ([LarderCommand.version] + lines).joined(separator: "\n")
  }

  /// A version as libpng and libxml2 pack it: two decimal digits a number.
  @Sendable private static func decimal(_ number: UInt32) -> LibraryVersion {
    LibraryVersion(Int(number / 10_000), Int(number / 100 % 100), Int(number % 100))
  }

  private static func use(of library: Library) -> String {
    guard case .transport = library.telling, let curl = CurlTransport.library else {
      return library.use
    }
    return "\(library.use), " + (curl.tls.map { "TLS by \($0)" } ?? "without TLS")
  }

  private static func version(of library: Library) -> String {
    let handles = library.files.lazy.compactMap { dlopen($0, RTLD_LAZY | RTLD_LOCAL) }
    guard let handle = handles.first else { return "not installed" }
    defer { dlclose(handle) }
    return told(library.telling, by: handle) ?? "installed"
  }

  /// What the library says; nil when it says nothing.
  private static func told(_ telling: Telling, by handle: UnsafeMutableRawPointer) -> String? {
    switch telling {
    case .silent: return nil
    case .transport: return CurlTransport.library?.version
    case .text(let name):
      typealias Function = @convention(c) () -> UnsafePointer<CChar>?
      return function(name, of: handle, as: Function.self)?().map { String(cString: $0) }
    case .number(let name, let version):
      typealias Function = @convention(c) () -> UInt32
      return function(name, of: handle, as: Function.self).map { "\(version($0()))" }
    case .digits(let name, let version):
      let place = dlsym(handle, name)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self)
      let digits = place?.pointee.map { String(cString: $0).prefix { $0.isNumber } }
      return digits.flatMap { UInt32($0) }.map { "\(version($0))" }
    case .three(let name):
      typealias Number = UnsafeMutablePointer<UInt32>
      typealias Function = @convention(c) (Number, Number, Number) -> Void
      guard let tell = function(name, of: handle, as: Function.self) else { return nil }
      var (major, minor, patch): (UInt32, UInt32, UInt32) = (0, 0, 0)
      tell(&major, &minor, &patch)
      return "\(major).\(minor).\(patch)"
    }
  }

  private static func function<Function>(
    _ name: String,
    of handle: UnsafeMutableRawPointer,
    as type: Function.Type
  ) -> Function? {
    // SAFETY: each name is looked up in the library whose header declares it with just this type, none
    // of them takes or returns anything to be freed, and the handle stays open meanwhile.
    dlsym(handle, name).map { unsafeBitCast($0, to: type) }
  }
}
