import Testing

@testable import Imaging

struct CodecLibraryTests {
  private func library(found: [Int], least: [Int] = [1, 6, 35]) -> CodecVersion {
    CodecVersion(name: "libpng", built: [1, 6, 39], found: found, least: least, series: 2)
  }

  @Test(
    arguments: [
      ([1, 6, 35], true), ([1, 6, 39], true), ([1, 6, 100], true), ([1, 6, 34], false),
      ([1, 4, 22], false), ([1, 7, 0], false), ([2, 6, 39], false), ([0, 0, 0], false),
      ([], false),
    ] as [([Int], Bool)]
  )
  func `a library may be used from the least version on, within its series`(
    _ found: [Int],
    _ isUsable: Bool
  ) {
    #expect((library(found: found).shortcoming == nil) == isUsable)
  }

  @Test func `one that is too old is named with what was found and what is needed`() {
    #expect(
      library(found: [1, 6, 12]).shortcoming
        == "libpng 1.6.12 is too old: larder needs 1.6.35 or later; update the system's package"
    )
  }

  @Test func `one of another series is named with what was found and what larder was built for`() {
    #expect(
      library(found: [1, 4, 22]).shortcoming
        == "libpng 1.4.22 does not fit: larder was built for libpng 1.6; "
        + "install the package that it was built with"
    )
  }

  @Test func `the libraries of this machine can all be used, and are what they say`() throws {
    let libraries: [CodecLibrary] = [
      .libjpeg, .turboJPEG, .libpng, .libwebp, .libavif, .giflib, .zimg, .littlecms, .pixman,
    ]

    for library in libraries { try library.open(for: "x") }

    let versions = libraries.compactMap(\.version)
    #expect(
      versions.map(\.name)
        == [
          "libjpeg's interface", "libpng", "libwebp", "libavif", "zimg's interface", "lcms2",
          "pixman",
        ]
    )
    // The tests are compiled where they run.
    #expect(versions.allSatisfy { $0.found == $0.built })
  }
}
