import CAVIF
import CGIF
import CJPEG
import CLCMS
import CPNG
import CPixman
import CWebP
import CZimg

/// A library that pictures are read, made, scaled or drawn with, opened once a process when a picture first needs it.
///
/// Whoever calls into one opens it before: its functions are not there else.
package struct CodecLibrary: Sendable {
  /// The version that was found; nil where there is none, or none that can be told.
  let version: CodecVersion?
  /// Why it cannot be used, for a picture of some name; nil when it can.
  private let obstacle: (@Sendable (String) -> ImagingError)?

  /// Opens a library.
  ///
  /// - Parameters:
  ///   - use: What needs it.
  ///   - package: Debian's name of what to install.
  ///   - opened: The dynamic loader's words when it cannot be opened.
  ///   - version: Asks for its version once it is open.
  private init(
    _ use: String,
    in package: String,
    _ opened: () -> UnsafePointer<CChar>?,
    version: () -> CodecVersion? = { nil }
  ) {
    let words = opened().map { String(cString: $0) }
    self.version = words == nil ? version() : nil
    if let words {
      obstacle = { .noLibrary($0, use, package, words) }
    } else if let words = self.version?.shortcoming {
      obstacle = { ImagingError(.library, "cannot work on \($0): \(words)") }
    } else {
      obstacle = nil
    }
  }

  /// Lets a picture use it.
  ///
  /// - Parameter name: What errors call the picture.
  /// - Throws: ``ImagingError`` of code `library` when it is not there, too old or of another series.
  package func open(for name: String) throws(ImagingError) {
    if let obstacle { throw obstacle(name) }
  }
}

extension CodecLibrary {
  /// libjpeg-turbo has no function that tells its release, and refuses callers of another interface.
  ///
  /// That (`JPEG_LIB_VERSION`) is what is compared; the release of the headers is held by CJPEG.
  static let libjpeg = CodecLibrary("JPEG", in: "libjpeg62-turbo", cjpeg_open) {
    let (built, found) = versions(cjpeg_interface)
    return CodecVersion(
      name: "libjpeg's interface",
      built: [built],
      found: [found],
      least: [built],
      series: 1
    )
  }

  /// The part of libjpeg-turbo that turns pictures without decoding them, which is a library of its own.
  static let turboJPEG = CodecLibrary(
    "turning a JPEG without loss",
    in: "libturbojpeg0",
    cjpeg_transform_open
  )

  /// From 1.6.35 on, no header makes libpng divide by zero (CVE-2018-13785).
  ///
  /// Releases of 1.6 share a binary interface, those before have others.
  static let libpng = CodecLibrary("PNG", in: "libpng16-16", cpng_open) {
    let (built, found) = versions(cpng_release)
    // Two digits a number. (png.h, PNG_LIBPNG_VER)
    return CodecVersion(
      name: "libpng",
      built: decimal(built),
      found: decimal(found),
      least: [1, 6, 35],
      series: 2
    )
  }

  /// Debian mends CVE-2023-4863 in 1.2.4 without another number.
  static let libwebp = CodecLibrary("WebP", in: "libwebp7", cwebp_open) {
    let (built, found) = versions(cwebp_release)
    func parts(_ number: Int) -> [Int] { [number >> 16, number >> 8 & 0xFF, number & 0xFF] }
    return CodecVersion(
      name: "libwebp",
      built: parts(built),
      found: parts(found),
      least: [1, 2, 2],
      series: 1
    )
  }

  /// Releases before 1.0 share a binary interface only within a minor number.
  static let libavif = CodecLibrary("AVIF", in: "libavif", cavif_open) {
    let (built, found) = versions(cavif_release)
    return CodecVersion(
      name: "libavif",
      built: decimal(built),
      found: decimal(found),
      least: [0, 11, 1],
      series: built < 10_000 ? 2 : 1
    )
  }

  /// giflib does not tell its release; the name of its file changes with its interface.
  static let giflib = CodecLibrary("GIF", in: "libgif7", cgif_open)

  /// zimg reads structures as long as the caller's interface makes them, so that its own must be no older.
  package static let zimg = CodecLibrary("scaling", in: "libzimg2", czimg_open) {
    let (built, found) = versions(czimg_interface)
    func parts(_ number: Int) -> [Int] { [number >> 8, number & 0xFF] }
    return CodecVersion(
      name: "zimg's interface",
      built: parts(built),
      found: parts(found),
      least: parts(built),
      series: 1
    )
  }

  /// From 2.9 on, no profile makes littlecms read beyond its buffer (CVE-2016-10165): profiles come with pictures.
  static let littlecms = CodecLibrary("colour conversion", in: "liblcms2-2", clcms_open) {
    func parts(_ number: Int) -> [Int] { [number / 1000, number % 1000 / 10] }
    return CodecVersion(
      name: "lcms2",
      built: parts(Int(LCMS_VERSION)),
      found: parts(Int(cmsGetEncodedCMMversion())),
      least: [2, 9],
      series: 1
    )
  }

  /// From 0.42.2 on, no shape makes pixman write beyond its buffer (CVE-2022-44638): texts are drawn with it.
  static let pixman = CodecLibrary("blending", in: "libpixman-1-0", cpixman_open) {
    CodecVersion(
      name: "pixman",
      built: [
        Int(PIXMAN_VERSION_MAJOR), Int(PIXMAN_VERSION_MINOR), Int(PIXMAN_VERSION_MICRO),
      ],
      found: decimal(Int(pixman_version())),
      least: [0, 42, 2],
      series: 1
    )
  }

  private static func versions(
    _ ask: (UnsafeMutablePointer<CInt>, UnsafeMutablePointer<CInt>) -> Void
  ) -> (Int, Int) {
    var (built, found): (CInt, CInt) = (0, 0)
    ask(&built, &found)
    return (Int(built), Int(found))
  }

  /// A version as most pack it, two digits a number.
  private static func decimal(_ number: Int) -> [Int] {
    [number / 10_000, number / 100 % 100, number % 100]
  }
}
