import Foundation
import Glibc
import SystemPackage
import Testing

@testable import Imaging

/// Output files, which are written as a whole.
struct WholeFileTests {
  private static let input = Result {
    try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 70, height: 60)
  }

  @Test func `a file is overwritten only where allowed, and nothing else is left`() throws {
    try withFolder { folder in
      let path = folder.appending("new/x")
      try WholeFile.write([1, 2], to: path)

      #expect {
        try WholeFile.write([3], to: path)
      } throws: {
        ($0 as? ImagingError)?.code == .exists
      }
      #expect(FileManager.default.contents(atPath: path.string) == Data([1, 2]))

      try WholeFile.write([4, 5], to: path, overwrite: true)

      #expect(names(in: folder.appending("new")) == ["x"])
      #expect(FileManager.default.contents(atPath: path.string) == Data([4, 5]))
    }
  }

  @Test func `a file that cannot be written is a disk error, and leaves nothing`() throws {
    try withFolder { folder in
      try WholeFile.write([1], to: folder.appending("file"))

      #expect {
        try WholeFile.write([2], to: folder.appending("file/x.png"))
      } throws: {
        ($0 as? ImagingError)?.code == .disk
      }

      #expect(names(in: folder) == ["file"])
    }
  }

  @Test func `an output overwrites no file that appeared while it was made`() throws {
    try withFolder { folder in
      let (input, output) = (folder.appending("x.png"), folder.appending("out/x.png"))
      try WholeFile.write(Self.input.get(), to: input)
      let batch = try PictureBatch([input], into: folder.appending("out"))

      let results = try batch.run(BeatenMaking(output: output))

      #expect(results.first?.error?.code == .exists)
      #expect(names(in: folder.appending("out")) == ["x.png"])
      #expect(try PictureFile(output).bytes == PictureFile(input).bytes)
    }
  }
}

/// A crop for whose output somebody else creates a file first.
private struct BeatenMaking: PictureMaking {
  let output: FilePath
  let crop = Crop()

  var limits: PictureLimits { crop.limits }

  func check() throws(ImagingError) { try crop.check() }

  func apply(to file: PictureFile) throws(ImagingError) -> EncodedPicture {
    let made = try crop.apply(to: file)
    try WholeFile.makeFolder(output.removingLastComponent())
    _ = link(file.name, output.string)
    return made
  }
}
