import Base
import CAVIF
import CDrawing
import CHEVC
import CLCMS
import CPNG
import CPixman
import CSQLite
import CTIFF
import CWebP
import CXML
import CZimg
import CurlTransport

/// The versions of the installed libraries, for `larder --version -v`.
///
/// The text does not name the libraries' files. `script/package` finds the names of the files in the binary.
enum LibraryVersions {
  /// A library: its name, its release or nil if it cannot be opened, and its use, such as "scaling".
  private typealias Row = (name: String, release: String?, use: String)

  /// Whether the arguments are `--version` and `-v`.
  ///
  /// The argument parser handles `--version` only if it is the only argument.
  static func areWanted(by arguments: [String]) -> Bool {
    let words = arguments.dropFirst()
    return words.count == 2 && words.contains("--version")
      && (words.contains("-v") || words.contains("--verbose"))
  }

  /// The version of larder, then one line for each library with its name, its release and its use.
  static var text: String {
    let lines = aligned(rows.map { [$0.name, $0.release ?? "not installed", $0.use] })
      .map { $0.joined(separator: "  ") }
    return ([LarderCommand.version] + lines).joined(separator: "\n")
  }

  private static var rows: [Row] {
    let curl = CurlTransport.library
    let tls = curl.map { ", " + ($0.tls.map { "TLS by \($0)" } ?? "without TLS") }
    return [
      ("libcurl", curl?.version, "transfers" + (tls ?? "")),
      ("SQLite", string(larder_sqlite_release()), "index and orders"),
      ("libpng", string(cpng_release()), "PNG"),
      ("zlib", string(zlibVersion()), "PNG and compressed feeds"),
      ("libwebp", LibraryVersion(bits: UInt32(cwebp_release())).description, "WebP"),
      ("libavif", string(cavif_release()), "AVIF and HEIC"),
      ("libde265", string(chevc_release()), "HEIC"),
      ("libtiff", string(ctiff_release()), "TIFF"),
      ("zimg", zimg, "scaling"),
      ("lcms2", littlecms, "colour profiles"),
      ("pixman", string(pixman_version_string()), "blending"),
      ("Pango", pango, "text on pictures"),
      ("libxml2", libxml2, "XML feeds and pages"),
    ]
  }

  private static var zimg: String {
    var (major, minor, patch): (UInt32, UInt32, UInt32) = (0, 0, 0)
    czimg_release(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }

  /// The release as text.
  ///
  /// The library gives it as a number: 2160 is 2.16.0. (lcms2.h, LCMS_VERSION)
  private static var littlecms: String {
    let number = cmsGetEncodedCMMversion()
    return "\(number / 1000).\(number % 1000 / 10).\(number % 10)"
  }

  private static var pango: String? {
    cdrawing_open() == nil ? string(pango_version_string()) : nil
  }

  /// The release as text.
  ///
  /// The library gives it as digits: 20914 is 2.9.14.
  ///
  /// The digits of a preview release are followed by a suffix. (xmlversion.h)
  private static var libxml2: String? {
    let digits = string(cxml_release())?.prefix { $0.isNumber }
    return digits.flatMap { Int($0) }.map { "\($0 / 10_000).\($0 / 100 % 100).\($0 % 100)" }
  }

  private static func string(_ text: UnsafePointer<CChar>?) -> String? {
    text.map { String(cString: $0) }
  }
}
