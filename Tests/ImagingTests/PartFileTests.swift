import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import Imaging

/// Large PNGs, which are written to their file while they are compressed.
struct PartFileTests {
  /// One crop or stamp for each way to make a PNG.
  ///
  /// If the PNG has more than `bytes` bytes, it is streamed to its file.
  private static func makings(holding bytes: Int = 32 << 20) -> [any PictureMaking] {
    var plain = Crop(format: .png, keepsMetadata: true)
    plain.heldBytes = bytes
    var scaled = plain
    scaled.size = 90
    var canvas = plain
    (canvas.frame, canvas.fit) = (PixelSize(width: 90, height: 80), .contain)
    canvas.background = PictureColour("#c81e5a40")
    return [plain, scaled, canvas, Stamp(crop: plain, time: .given(instant: 0, offset: 0))]
  }

  private static let inputs = Result {
    let text = chunk("tEXt", Array("Comment\0a pot of kimchi".utf8))
    return try [
      PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 70, height: 60),
      PNGKind(name: "", layout: .rgba, depth: 16, isInterlaced: true).bytes(width: 70, height: 60),
    ].map { $0[..<33] + text + $0[33...] } + [JPEGKind(name: "").bytes(width: 70, height: 60)]
  }

  @Test(arguments: [1, 7, 1000])
  func `a PNG streamed to its file equals one made in memory`(
    _ bytes: Int
  ) throws {
    try withFolder { folder in
      let output = folder.appending("out/x.png")
      for input in try Self.inputs.get() {
        let file = try PictureFile(input)
        for (making, plain) in zip(Self.makings(holding: bytes), Self.makings()) {
          let made = try making.make(from: file, for: output)

          #expect(try made.contents() == plain.make(from: file, for: output).contents())
          guard case .waiting = made.file else {
            Issue.record("all of it is held")
            continue
          }
        }
      }
      #expect(names(in: folder.appending("out")).isEmpty)
    }
  }

  @Test
  func `a part file becomes the output, overwrites only where allowed, and leaves nothing else`()
    throws
  {
    try withFolder { folder in
      let path = folder.appending("x")
      func part(_ bytes: [UInt8]) throws(ImagingError) -> PartFile {
        let part = try PartFile(for: path)
        try bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
          try part.append(bytes)
        }
        return part
      }
      let first = try part([1, 2])
      #expect(names(in: folder).map { $0.hasSuffix(".\(getpid()).part") } == [true])

      try first.place(overwrite: false)

      #expect(names(in: folder) == ["x"])
      #expect {
        try part([3]).place(overwrite: false)
      } throws: {
        ($0 as? ImagingError)?.code == .exists
      }
      try part([4, 5]).place(overwrite: true)
      #expect(names(in: folder) == ["x"])
      #expect(FileManager.default.contents(atPath: path.string) == Data([4, 5]))
      #expect(try first.bytes() == [1, 2])
    }
  }

  @Test func `a small PNG is held in memory and touches no disk before it is complete`() throws {
    try withFolder { folder in
      let file = try PictureFile(try #require(Self.inputs.get().first))

      let made = try Crop().make(from: file, for: folder.appending("out/x.png"))

      #expect(names(in: folder).isEmpty && !made.bytes.isEmpty)
    }
  }

  @Test func `a batch renames large PNGs once they are complete`() throws {
    try withFolder { folder in
      let (input, out) = (folder.appending("in"), folder.appending("out"))
      for (index, bytes) in try Self.inputs.get().enumerated() {
        try WholeFile.write(bytes, to: input.appending("\(index)"))
      }
      let batch = try PictureBatch([input], into: out, format: .png)
      for (making, plain) in zip(Self.makings(holding: 100), Self.makings()) {
        let delivered = Mutex<[String: [UInt8]]>([:])

        let results = try batch.run(
          making,
          overwrite: true,
          deliver: { picture, result in
            delivered.withLock { $0[result.output ?? ""] = picture.bytes }
            return result
          }
        )

        #expect(results.allSatisfy { $0.error == nil } && names(in: out).count == 3)
        for item in batch.items {
          let output = try #require(item.output)
          let expected = try plain.make(from: PictureFile(item.input), for: output).bytes
          #expect(try PictureFile(output).bytes == expected)
          #expect(delivered.withLock { $0[output.string] } == expected)
        }
      }
    }
  }

  @Test func `a large PNG that cannot be written fails with a disk error and leaves nothing`()
    throws
  {
    try withFolder { folder in
      try WholeFile.write([1], to: folder.appending("file"))
      for input in try Self.inputs.get() {
        for making in Self.makings(holding: 100) {
          #expect {
            try making.make(from: PictureFile(input), for: folder.appending("file/x.png"))
          } throws: {
            ($0 as? ImagingError)?.code == .disk
          }
        }
      }
      #expect(names(in: folder) == ["file"])
    }
  }

  @Test func `a large PNG that breaks off during compression leaves nothing`() throws {
    try withFolder { folder in
      let bytes = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 50, height: 470)
      let length = bytes[33..<37].reduce(0) { $0 << 8 | Int($1) }
      let half = Array(bytes[41..<41 + length / 2])
      let cut = try PictureFile(Array(bytes[..<33]) + chunk("IDAT", half) + chunk("IEND", []))
      var crop = Crop()
      (crop.heldBytes, crop.frame) = (1, PixelSize(width: 50, height: 470))

      #expect {
        try crop.make(from: cut, for: folder.appending("out/x.png"))
      } throws: {
        ($0 as? ImagingError)?.code == .damagedPicture
      }

      #expect(names(in: folder.appending("out")).isEmpty)
    }
  }

  @Test func `a large PNG overwrites no file that appeared during its compression`() throws {
    try withFolder { folder in
      let (input, output) = (folder.appending("x.png"), folder.appending("out/x.png"))
      try WholeFile.write(try #require(Self.inputs.get().first), to: input)
      let batch = try PictureBatch([input], into: folder.appending("out"))
      var crop = Crop()
      crop.heldBytes = 1

      let results = try batch.run(BeatenMaking(crop: crop))

      #expect(results.first?.error?.code == .exists)
      #expect(names(in: folder.appending("out")) == ["x.png"])
      #expect(try PictureFile(output).bytes == PictureFile(input).bytes)
    }
  }
}

/// A crop for whose output somebody else creates a file first.
private struct BeatenMaking: PictureMaking {
  let crop: Crop

  var limits: PictureLimits { crop.limits }

  func check() throws(ImagingError) { try crop.check() }

  func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(ImagingError) -> EncodedPicture {
    let made = try crop.make(from: file, for: output)
    _ = link(file.name, output.string)
    return made
  }
}
