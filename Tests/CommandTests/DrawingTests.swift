import Foundation
import Imaging
import Support
import Testing

/// Text drawn by Pango, a library that larder loads only when it draws text.
@Suite struct DrawingTests {
  @Test func `without Pango everything but drawing text works, and an error names the package`()
    throws
  {
    let folder = try TemporaryFolder()
    let photo = folder.path("morning.png")
    let bitmap = Bitmap(
      width: 16,
      height: 12,
      layout: .rgb,
      samples: [UInt8](repeating: 90, count: 16 * 12 * 3)
    )
    try Data(try bitmap.png()).write(to: URL(filePath: photo))
    // The dynamic loader finds this file first and cannot read it.
    let library = try folder.write("", to: "libpangocairo-1.0.so.0")
    let environment = ["LD_LIBRARY_PATH": folder.path]

    let cropped = try Command.larder(
      ["crop", photo, "--out", folder.path("squares")],
      environment: environment
    )
    let stamped = try Command.larder(
      ["stamp", photo, "--out", folder.path("stamps"), "--time", "2021-01-13T06:30:00+09:00"],
      environment: environment
    )

    #expect(cropped.status == 0, "\(cropped.errors)")
    #expect(stamped.status == 65)
    #expect(
      stamped.errors == "larder: cannot draw text on pictures: \(library): file too short; "
        + "install libpangocairo-1.0-0\n"
    )
    #expect(!FileManager.default.fileExists(atPath: folder.path("stamps/morning.png")))
  }

  @Test
  func
    `a tarball's fonts are found beside its program, unless another font configuration is given`()
    throws
  {
    let folder = try TemporaryFolder()
    let photo = folder.path("morning.png")
    let bitmap = Bitmap(
      width: 640,
      height: 480,
      layout: .rgb,
      samples: [UInt8](repeating: 90, count: 640 * 480 * 3)
    )
    try Data(try bitmap.png()).write(to: URL(filePath: photo))
    // A font configuration without folders, so that no font is found.
    let none = try folder.write("<fontconfig></fontconfig>", to: "none.conf")
    let stamp = """
      set -e
      mkdir -p prefix/bin prefix/share/larder/fonts
      ln "$larder" prefix/bin/larder 2>/dev/null || cp "$larder" prefix/bin/larder
      printf '<fontconfig><dir prefix="relative">fonts</dir></fontconfig>' >prefix/share/larder/fonts.conf
      cp "$(fc-match -f '%{file}' NanumGothic)" prefix/share/larder/fonts/
      own="prefix/bin/larder stamp morning.png --locale ko_KR --time 2021-01-13T06:30:00+09:00 --out"
      $own stamps --quiet
      FONTCONFIG_FILE="$none" $own others --quiet || echo $?
      $own bold --font 'DejaVu Sans' --quiet || echo $?
      """

    let stamped = try Command.shell(
      "cd '\(folder.path)'\n" + stamp,
      environment: ["none": none]
    )

    #expect(FileManager.default.fileExists(atPath: folder.path("stamps/morning.png")))
    #expect(stamped.output == "65\n64\n", "\(stamped.errors)")
  }
}
