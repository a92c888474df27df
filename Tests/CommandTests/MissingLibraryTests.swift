import Foundation
import Imaging
import Support
import Testing

/// What `crop`, `stamp` and the rest do on a machine that lacks libraries for pictures.
struct MissingLibraryTests {
  /// A picture of the test.
  enum Picture: String {
    /// A JPEG that lies on its side.
    case photo = "photo.jpg"
    /// A PNG with a palette.
    case drawing = "drawing.png"
    /// A JPEG of four inks.
    case inks = "inks.jpg"
  }

  /// A library that a machine lacks, what it cannot do then, and what it does all the same.
  struct Lack: Sendable, CustomTestStringConvertible {
    let library: String
    let need: String
    let package: String
    let cannot: (command: String, picture: Picture, options: [String])
    let can: (picture: Picture, options: [String])

    var testDescription: String { library }
  }

  private static let lacks = [
    Lack(
      library: "libjpeg.so.62",
      need: "JPEG",
      package: "libjpeg62-turbo",
      cannot: ("crop", .photo, ["--size", "64"]),
      can: (.drawing, ["--size", "64"])
    ),
    Lack(
      library: "libturbojpeg.so.0",
      need: "turning a JPEG without loss",
      package: "libturbojpeg0",
      cannot: ("crop", .photo, ["--lossless"]),
      can: (.inks, ["--lossless"])
    ),
    Lack(
      library: "libpng16.so.16",
      need: "PNG",
      package: "libpng16-16",
      cannot: ("crop", .photo, ["--format", "png", "--size", "64"]),
      can: (.photo, ["--size", "64"])
    ),
    Lack(
      library: "libwebp.so.7",
      need: "WebP",
      package: "libwebp7",
      cannot: ("crop", .photo, ["--format", "webp", "--size", "64"]),
      can: (.photo, ["--format", "png", "--size", "64"])
    ),
    Lack(
      library: "libzimg.so.2",
      need: "scaling",
      package: "libzimg2",
      cannot: ("crop", .drawing, ["--size", "64"]),
      can: (.drawing, [])
    ),
    Lack(
      library: "liblcms2.so.2",
      need: "colour conversion",
      package: "liblcms2-2",
      cannot: ("crop", .inks, ["--format", "png"]),
      can: (.inks, ["--size", "4"])
    ),
    Lack(
      library: "libpixman-1.so.0",
      need: "blending",
      package: "libpixman-1-0",
      cannot: ("stamp", .drawing, []),
      can: (.photo, ["--size", "64"])
    ),
    Lack(
      library: "libpixman-1.so.0",
      need: "blending",
      package: "libpixman-1-0",
      cannot: ("stamp", .drawing, ["--font", "any"]),
      can: (.drawing, [])
    ),
  ]

  private let folder: TemporaryFolder
  private let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    environment = ["LD_LIBRARY_PATH": folder.path]
  }

  /// Puts a library where the dynamic loader finds it first, and cannot read it.
  private func hide(_ library: String) throws { _ = try folder.write("", to: library) }

  private func path(_ picture: Picture) throws -> String {
    switch picture {
    case .photo: return "\(Command.samples)/photo/wakeup-12mp.jpg"
    case .drawing: return "\(Command.samples)/store/pictures/main/mandu.png"
    case .inks:
      let samples = [UInt8](repeating: 90, count: 16 * 16 * 4)
      let bitmap = Bitmap(width: 16, height: 16, layout: .cmyk, samples: samples)
      try folder.write(bitmap.jpeg(), to: picture.rawValue)
      return folder.path(picture.rawValue)
    }
  }

  @Test(arguments: lacks)
  func `a machine without a library does all that needs none of it, and says what to install`(
    _ lack: Lack
  ) throws {
    try hide(lack.library)
    let picture = try path(lack.cannot.picture)

    let lacking = try Command.larder(
      [lack.cannot.command, picture, "--out", folder.path("lacking")] + lack.cannot.options,
      environment: environment
    )
    let other = try Command.larder(
      ["crop", try path(lack.can.picture), "--out", folder.path("made")] + lack.can.options,
      environment: environment
    )

    let name = lack.need == "blending" ? "pictures" : picture
    #expect(lacking.status == 65)
    #expect(
      lacking.errors == "larder: cannot work on \(name): \(lack.need) needs a library that cannot "
        + "be opened (\(folder.path(lack.library)): file too short); install \(lack.package)\n"
    )
    #expect(other.status == 0, "\(other.errors)")
  }

  @Test
  func `a machine without any of them syncs all the same, and says what squares take`() throws {
    for lack in Self.lacks { try hide(lack.library) }
    let demo = ["demo", "--samples", Command.samples, "--cache", folder.path("cache")]
    let catalog = ["sync", "\(Command.samples)/catalog.yaml", "--square", "64"]

    let versions = try Command.larder(["--version", "-v"], environment: environment)
    let synced = try Command.larder(demo, environment: environment)
    let verified = try Command.larder(
      ["verify", "--cache", folder.path("cache")],
      environment: environment
    )
    let squares = try Command.larder(
      catalog + ["--cache", folder.path("squares")],
      environment: environment
    )

    #expect(versions.status == 0)
    let missing = Set(Self.lacks.map(\.library)).count
    #expect(versions.output.matches(of: /not installed/).count >= missing)
    #expect(synced.status == 0, "\(synced.errors)")
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(squares.errors.contains("install libzimg2"), "\(squares.errors)")
  }
}
