import CJPEG
import CPNG
import CPixman
import CZimg

/// A library that pictures are decoded, scaled or drawn with: the version that was found when the process
/// started, and those that it is compared with.
///
/// Versions are lists of numbers, the most significant first.
package struct CodecLibrary: Equatable, Sendable {
  /// What messages call it.
  let name: String
  /// The version whose headers larder was compiled with.
  let built: [Int]
  /// The version that is loaded.
  let found: [Int]
  /// The first that may be used.
  let least: [Int]
  /// How many leading numbers of `built` the loaded library must share: others have another binary interface.
  let series: Int

  /// What to say when the loaded library cannot be used; nil when it can.
  var shortcoming: String? {
    if !found.starts(with: built.prefix(series)) {
      return "\(name) \(Self.text(found)) does not fit: larder was built for "
        + "\(name) \(Self.text(built.prefix(series))); install the package that it was built with"
    }
    guard found.lexicographicallyPrecedes(least) else { return nil }
    return "\(name) \(Self.text(found)) is too old: larder needs \(Self.text(least)) or later; "
      + "update the system's package"
  }

  private static func text(_ version: some Sequence<Int>) -> String {
    version.map(String.init).joined(separator: ".")
  }
}

extension CodecLibrary {
  /// The libraries of this process.
  static let loaded: [CodecLibrary] = [libjpeg, libpng, zimg, littlecms, pixman]

  /// What is wrong with the first library that cannot be used; asked for once a process.
  private static let shortcoming = loaded.lazy.compactMap(\.shortcoming).first

  /// Refuses to work with libraries that are too old or of another series.
  ///
  /// - Throws: ``ImagingError`` of code `library`.
  package static func check() throws(ImagingError) {
    guard let shortcoming else { return }
    throw ImagingError(.library, "cannot work on pictures: \(shortcoming)")
  }

  /// libjpeg-turbo has no function that tells its release, and refuses callers of another interface.
  ///
  /// That (`JPEG_LIB_VERSION`) is what is compared; the release of the headers is held by CJPEG.
  private static var libjpeg: CodecLibrary {
    let (built, found) = versions { cjpeg_interface(&$0, &$1) }
    return CodecLibrary(
      name: "libjpeg's interface",
      built: [built],
      found: [found],
      least: [built],
      series: 1
    )
  }

  /// From 1.6.35 on, no header makes libpng divide by zero (CVE-2018-13785).
  ///
  /// Releases of 1.6 share a binary interface, those before have others.
  private static var libpng: CodecLibrary {
    let (built, found) = versions { cpng_release(&$0, &$1) }
    // Two digits a number. (png.h, PNG_LIBPNG_VER)
    func parts(_ number: Int) -> [Int] { [number / 10_000, number / 100 % 100, number % 100] }
    return CodecLibrary(
      name: "libpng",
      built: parts(built),
      found: parts(found),
      least: [1, 6, 35],
      series: 2
    )
  }

  /// zimg reads structures as long as the caller's interface makes them, so that its own must be no older.
  private static var zimg: CodecLibrary {
    let (built, found) = versions { czimg_interface(&$0, &$1) }
    func parts(_ number: Int) -> [Int] { [number >> 8, number & 0xFF] }
    return CodecLibrary(
      name: "zimg's interface",
      built: parts(built),
      found: parts(found),
      least: parts(built),
      series: 1
    )
  }

  /// From 2.9 on, no profile makes littlecms read beyond its buffer (CVE-2016-10165): profiles come with pictures.
  private static var littlecms: CodecLibrary {
    func parts(_ number: Int) -> [Int] { [number / 1000, number % 1000 / 10] }
    return CodecLibrary(
      name: "lcms2",
      built: parts(Int(LCMS_VERSION)),
      found: parts(Int(cmsGetEncodedCMMversion())),
      least: [2, 9],
      series: 1
    )
  }

  /// From 0.42.2 on, no shape makes pixman write beyond its buffer (CVE-2022-44638): texts are drawn with it.
  private static var pixman: CodecLibrary {
    let found = Int(pixman_version())
    return CodecLibrary(
      name: "pixman",
      built: [
        Int(PIXMAN_VERSION_MAJOR), Int(PIXMAN_VERSION_MINOR), Int(PIXMAN_VERSION_MICRO),
      ],
      found: [found / 10_000, found / 100 % 100, found % 100],
      least: [0, 42, 2],
      series: 1
    )
  }

  private static func versions(_ ask: (inout CInt, inout CInt) -> Void) -> (Int, Int) {
    var (built, found): (CInt, CInt) = (0, 0)
    ask(&built, &found)
    return (Int(built), Int(found))
  }
}
