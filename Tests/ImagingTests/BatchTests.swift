import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import Imaging

/// Batches of pictures: the order of results, the names of outputs, and failures.
struct BatchTests {
  private static func put(_ path: FilePath, _ side: Int = 20) throws {
    let kind = PNGKind(name: "", layout: .rgb, depth: 8)
    try WholeFile.write(kind.bytes(width: side + 3, height: side), to: path)
  }

  @Test func `results are in the order of the inputs, and one bad file stops none`() throws {
    try withFolder { folder in
      for index in 0..<12 { try Self.put(folder.appending("in/\(padded(index)).png"), 10 + index) }
      try WholeFile.write(Array("no picture".utf8), to: folder.appending("bad.png"))
      let batch = try PictureBatch(
        [folder.appending("in"), folder.appending("bad.png"), folder.appending("missing.png")],
        into: folder.appending("out")
      )
      let reported = Mutex<[PictureResult]>([])

      let results = try batch.run(Crop(), workers: 4) { result in
        reported.withLock { $0.append(result) }
      }

      #expect(results.map(\.summary?.width) == (10..<22).map { $0 } + [nil, nil])
      #expect(results.suffix(2).map(\.error?.code) == [.unsupported, .unreadable])
      #expect(reported.withLock { $0 } == results)
      #expect(names(in: folder.appending("out")).count == 12)
    }
  }

  @Test func `no more pictures are processed at once than there are workers`() throws {
    try withFolder { folder in
      for index in 0..<9 { try Self.put(folder.appending("in/\(index).png")) }
      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      for workers in 1...2 {
        let counting = CountingMaking()
        let results = try batch.run(counting, workers: workers, overwrite: true)

        #expect(results.allSatisfy { $0.error == nil })
        #expect((1...workers).contains(counting.most.load(ordering: .relaxed)))
      }
    }
  }

  @Test func `stdin is read only after the output folder is checked, and is named stdin`()
    throws
  {
    try withFolder { folder in
      let picture = try PNGKind(name: "", layout: .rgb, depth: 8).bytes(width: 7, height: 5)
      let reads = Atomic(0)
      func read() -> [UInt8] {
        reads.add(1, ordering: .relaxed)
        return picture
      }
      try WholeFile.write([1], to: folder.appending("file"))

      #expect(throws: ImagingError.self) {
        try PictureBatch(["-"], into: folder.appending("file"), standardInput: read)
      }
      #expect(reads.load(ordering: .relaxed) == 0)
      let batch = try PictureBatch(["-"], into: folder.appending("out"), standardInput: read)
      let results = try batch.run(Crop())

      #expect(batch.items.map(\.output) == [folder.appending("out/stdin.png")])
      #expect(results.map(\.input) == ["-"] && results.map(\.summary?.width) == [5])
    }
  }

  @Test func `pictures of a folder keep their relative path`() throws {
    try withFolder { folder in
      try Self.put(folder.appending("in/a/x.png"))
      try Self.put(folder.appending("in/b/x.dat"))
      try WholeFile.write(Array("notes".utf8), to: folder.appending("in/notes.txt"))

      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      #expect(
        batch.items.map(\.output)
          == [folder.appending("out/a/x.png"), folder.appending("out/b/x.png")]
      )
      #expect(batch.others == [folder.appending("in/notes.txt")])
    }
  }

  @Test func `two inputs for one output are an error before anything is written`() throws {
    try withFolder { folder in
      try Self.put(folder.appending("a/x.png"))
      try Self.put(folder.appending("b/x.jpg"))

      #expect {
        try PictureBatch(
          [folder.appending("a/x.png"), folder.appending("b/x.jpg")],
          into: folder.appending("out")
        )
      } throws: { ($0 as? ImagingError)?.code == .usage }
      #expect(!names(in: folder).contains("out"))
    }
  }

  @Test func `an input that is named twice is refused, however its path is written`() throws {
    try withFolder { folder in
      try Self.put(folder.appending("x.png"))

      for again in ["x.png", "./x.png"] {
        let error = #expect(throws: ImagingError.self) {
          try PictureBatch(
            [folder.appending("x.png"), folder.appending(again)],
            into: folder.appending("out")
          )
        }
        #expect(error?.code == .usage)
        #expect(error?.problem.hasSuffix("was given twice; give it once") == true)
      }
    }
  }

  @Test func `a name that is not UTF-8 is processed, shown escaped, and kept byte for byte`()
    throws
  {
    try withFolder { folder in
      // The word "café" in Latin-1 is the name of a picture and of a folder. Two further names differ only in their
      // invalid bytes.
      func name(_ bytes: [UInt8]) throws -> FilePath.Component {
        try #require(FilePath.Component(platformString: bytes.map { CChar(bitPattern: $0) } + [0]))
      }
      let stem: [UInt8] = Array("caf".utf8) + [0xE9]
      let (first, second) = (
        try name(stem + Array(".png".utf8)), try name([0xE8] + Array(".png".utf8))
      )
      let below = try name(stem)
      try Self.put(folder.appending("in").appending(first))
      try Self.put(folder.appending("in").appending(second))
      try Self.put(folder.appending("in").appending(below).appending("x.png"))
      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      for overwrite in [false, true] {
        let results = try batch.run(Crop(), overwrite: overwrite)

        #expect(results.count == 3 && results.allSatisfy { $0.error == nil })
        #expect(
          Set(results.compactMap(\.output)) == [
            folder.appending("out/caf").string + "\\xE9.png",
            folder.appending("out/").string + "/\\xE8.png",
            folder.appending("out/caf").string + "\\xE9/x.png",
          ]
        )
      }

      let made =
        [first, second].map { folder.appending("out").appending($0) }
        + [folder.appending("out").appending(below).appending("x.png")]
      for path in made {
        #expect(path.withPlatformString { access($0, R_OK) } == 0, "\(path)")
      }
    }
  }

  @Test(
    arguments: [
      (Array("a/밥.png".utf8), "a/밥.png"), ([0x61, 0xE9, 0x2E], "a\\xE9."),
      ([0xEB, 0xB0], "\\xEB\\xB0"), ([0xFF, 0xEB, 0xB0, 0xA5, 0xC3], "\\xFF밥\\xC3"),
    ] as [([UInt8], String)]
  )
  func `a path is shown with its invalid bytes escaped`(_ bytes: [UInt8], _ text: String) {
    let path = FilePath(platformString: bytes.map { CChar(bitPattern: $0) } + [0])

    #expect(path.shown == text)
  }

  @Test(arguments: [200, 240, 251])
  func `a long name is written with and without force`(_ length: Int) throws {
    try withFolder { folder in
      let name = String(repeating: "n", count: length) + ".png"
      try Self.put(folder.appending(name))
      let batch = try PictureBatch([folder.appending(name)], into: folder.appending("out"))

      for overwrite in [false, true] {
        let results = try batch.run(Crop(), overwrite: overwrite)
        #expect(results.map(\.error) == [nil])
      }
      #expect(names(in: folder.appending("out")) == [name])
    }
  }

  @Test func `no input is overwritten, even with force`() throws {
    try withFolder { folder in
      try Self.put(folder.appending("x.png"))

      #expect { try PictureBatch([folder.appending("x.png")], into: folder) } throws: {
        ($0 as? ImagingError)?.code == .usage
      }
    }
  }

  @Test func `an existing output is kept unless force is used`() throws {
    try withFolder { folder in
      try Self.put(folder.appending("x.png"))
      try WholeFile.write([1, 2, 3], to: folder.appending("out/x.png"))
      let batch = try PictureBatch([folder.appending("x.png")], into: folder.appending("out"))

      let kept = try batch.run(Crop())
      #expect(kept.first?.error?.code == .exists)
      let replaced = try batch.run(Crop(), overwrite: true)

      #expect(replaced.first?.error == nil)
      #expect(names(in: folder.appending("out")) == ["x.png"])
    }
  }

  @Test func `a cancelled run leaves the remaining pictures without results`() throws {
    try withFolder { folder in
      for index in 0..<5 { try Self.put(folder.appending("in/\(index).png")) }
      let batch = try PictureBatch([folder.appending("in")], into: folder.appending("out"))

      let results = try batch.run(Crop(), isCancelled: { true })

      #expect(results.isEmpty)
      #expect(!names(in: folder).contains("out"))
    }
  }

  @Test func `a file that cannot be written leaves nothing behind`() throws {
    try withFolder { folder in
      let path = folder.appending("out/x.png")
      try WholeFile.write([], to: path.appending("in-the-way"))

      #expect { try WholeFile.write([1], to: path, overwrite: true) } throws: {
        ($0 as? ImagingError)?.code == .disk
      }
      #expect(names(in: folder.appending("out")) == ["x.png"])
    }
  }

  @Test func `a folder or a device is not a picture`() throws {
    #expect { try PictureFile("/dev/zero") } throws: {
      ($0 as? ImagingError)?.code == .unsupported
    }
  }

  @Test func `a result prints every key`() throws {
    let picture = EncodedPicture(
      file: .held([]),
      summary: EncodedPicture.Summary(
        format: .jpeg,
        width: 5,
        height: 5,
        method: .lossless,
        shift: EncodedPicture.Shift(x: -4, y: 2),
        isDamaged: true,
        gravity: EncodedPicture.Point(x: 3, y: 2)
      )
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let made = PictureResult(input: "a", output: "b", summary: picture.summary)
    let failed = PictureResult(input: "a", error: ImagingError(.damagedPicture, "cannot"))

    #expect(
      String(decoding: try encoder.encode(made), as: UTF8.self)
        == #"{"damaged":true,"error":null,"format":"jpeg","gravity":{"x":3,"y":2},"height":5,"input":"a","#
        + #""method":"lossless","output":"b","shift":{"x":-4,"y":2},"skipped":false,"time":null,"timeSource":null,"upload":null,"width":5}"#
    )
    #expect(
      String(decoding: try encoder.encode(failed), as: UTF8.self)
        == #"{"damaged":false,"error":"cannot","format":null,"gravity":null,"height":null,"input":"a","#
        + #""method":null,"output":null,"shift":null,"skipped":false,"time":null,"timeSource":null,"upload":null,"width":null}"#
    )
  }
}

/// A crop that counts how many pictures are being made at the same time.
private final class CountingMaking: PictureMaking {
  let now = Atomic(0)
  let most = Atomic(0)
  let limits = PictureLimits()

  func check() {}

  func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(ImagingError) -> EncodedPicture {
    most.max(now.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    defer { now.subtract(1, ordering: .relaxed) }
    return try Crop().apply(to: file)
  }
}
