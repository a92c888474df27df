import Support
import Testing

@testable import Imaging

/// `--gravity attention` on scenes with a known subject.
struct AttentionTests {
  /// A picture with a single subject.
  struct Scene: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var width = 360
    var height = 200
    /// The centre and the radius of the subject.
    var x: Int
    var y = 100
    var radius = 40
    /// The colours of the subject and of the background at a position.
    var subject: @Sendable (Int, Int) -> [Int]
    var ground: @Sendable (Int, Int) -> [Int]

    /// Repeatable noise.
    static func grain(_ x: Int, _ y: Int, _ most: Int) -> Int {
      var state = UInt32(truncatingIfNeeded: x &* 73_856_093 ^ y &* 19_349_663)
      state ^= state << 13
      state ^= state >> 17
      state ^= state << 5
      return Int(state % UInt32(most * 2 + 1)) - most
    }

    static let all = [
      Scene(
        testDescription: "a dish at the right of a plain table",
        x: 310,
        subject: { ($0 / 6 + $1 / 5) % 2 == 0 ? [190, 70, 30] : [225, 150, 50] },
        ground: { [200 + grain($0, $1, 3), 195, 188] }
      ),
      Scene(
        testDescription: "a pale face at the left",
        x: 45,
        subject: { _, _ in [224, 172, 138] },
        ground: { [110, 140 + grain($0, $1, 6), 170] }
      ),
      Scene(
        testDescription: "a dark face at the right",
        x: 300,
        subject: { _, _ in [92, 60, 44] },
        ground: { [52 + grain($0, $1, 3), 55, 58] }
      ),
      Scene(
        testDescription: "text at the left of a page",
        x: 60,
        subject: { $0 / 2 % 3 == 0 && $1 / 8 % 2 == 0 ? [30, 30, 30] : [238, 236, 230] },
        ground: { _, _ in [240, 238, 232] }
      ),
      Scene(
        testDescription: "a bright ball on disorder",
        x: 300,
        subject: { _, _ in [248, 220, 60] },
        ground: {
          let grey = 110 + grain($0, $1, 60); return [grey, grey, grey]
        }
      ),
      Scene(
        testDescription: "a bowl near the foot of a tall picture of stripes",
        width: 200,
        height: 500,
        x: 100,
        y: 410,
        subject: { ($0 / 5 + $1 / 7) % 3 == 0 ? [80, 150, 60] : [230, 226, 214] },
        ground: { _, y in y / 6 % 2 == 0 ? [130, 92, 58] : [142, 101, 64] }
      ),
    ]

    var bitmap: Bitmap {
      let samples = (0..<width * height).flatMap { index -> [UInt8] in
        let (x, y) = (index % width, index / width)
        let (across, down) = (x - self.x, y - self.y)
        let isInside = across * across + down * down <= radius * radius
        return (isInside ? subject(x, y) : ground(x, y)).map { UInt8(clamping: $0) }
      }
      return Bitmap(width: width, height: height, layout: .rgb, samples: samples)
    }

    /// The square around a point, moved so that it stays within the picture.
    func window(around point: EncodedPicture.Point) -> PixelRegion {
      let size = PixelSize(width: width, height: height)
      return Focus(x: Double(point.x), y: Double(point.y))
        .region(of: PixelSize(side: min(width, height)), in: size)
    }

    /// Whether the whole subject is within a region of the picture.
    func isKept(by window: PixelRegion) -> Bool {
      x - radius >= window.x && x + radius <= window.x + window.width
        && y - radius >= window.y && y + radius <= window.y + window.height
    }
  }

  private static let crop = Crop(gravity: .attention)

  private static func jpeg(_ bitmap: Bitmap, _ kind: JPEGKind, _ orientation: Int) -> [UInt8] {
    kind.bytes(
      samples: bitmap.samples,
      width: bitmap.width,
      height: bitmap.height,
      quality: 90,
      segments: exifSegment(tiff(orientation: orientation))
    )
  }

  @Test(arguments: Scene.all)
  func `the subject is kept, unscaled and scaled`(_ scene: Scene) throws {
    let file = try PictureFile(Self.jpeg(scene.bitmap, JPEGKind(name: ""), 1))

    let square = try Self.crop.apply(to: file)
    let small = try Crop(size: 48, gravity: .attention).apply(to: file)

    let (own, scaled) = (try #require(square.gravity), try #require(small.gravity))
    #expect(scene.isKept(by: scene.window(around: own)), "\(own)")
    #expect(!Self.isKept(scene, by: .centre), "the middle would do as well")
    // The scaled crop finds nearly the same point, although it analyses other samples.
    #expect(abs(own.x - scaled.x) <= 4 && abs(own.y - scaled.y) <= 4, "\(own), \(scaled)")
    #expect(try Crop(size: 48, gravity: .attention).apply(to: file) == small)
  }

  @Test func `the subject is found in every format and by each decoding path`() throws {
    let scene = Scene.all[0]
    let bitmap = scene.bitmap
    let files = [
      Self.jpeg(bitmap, JPEGKind(name: "", isProgressive: true), 1), try bitmap.png(),
      try webp(bitmap), AVIFKind().bytes(bitmap.converted(Conversion.withAlpha)),
    ]
    for file in try files.map({ try PictureFile($0) }) {
      for size in [nil, 48] {
        var crop = Self.crop
        crop.size = size

        let point = try #require(try crop.apply(to: file).gravity)

        #expect(scene.isKept(by: scene.window(around: point)), "\(file.probe.format): \(point)")
      }
    }
  }

  private static func isKept(_ scene: Scene, by gravity: Gravity) -> Bool {
    let size = PixelSize(width: scene.width, height: scene.height)
    let side = min(size.width, size.height)
    return scene.isKept(by: Focus(gravity, in: size).region(of: PixelSize(side: side), in: size))
  }

  private static let face = Scene.all[1].bitmap

  @Test(arguments: 1...8)
  func `the subject is found whatever the stored orientation`(_ value: Int) throws {
    let orientation = try #require(Orientation(rawValue: value))
    let inverse = try #require(
      Orientation(
        rawValue: orientation == .turnedLeft ? 8 : orientation == .turnedRight ? 6 : value
      )
    )
    let scene = Scene.all[1]
    let upright = Self.face
    let stored = try upright.upright(from: inverse)
    let file = try PictureFile(Self.jpeg(stored, JPEGKind(name: ""), value))
    #expect(file.probe.width == scene.width)
    for size in [nil, 64] {
      var crop = Self.crop
      crop.size = size

      let square = try crop.apply(to: file)

      let point = try #require(square.gravity)
      let window = scene.window(around: point)
      let side = window.width
      #expect(scene.isKept(by: window), "\(scene): \(point)")
      // The kept region is the one that was found: if the upright picture is cut there by hand, the result is the same.
      let expected = try upright.part(window)
        .scaled(width: size ?? side, height: size ?? side, limits: PictureLimits().named("x"))
      let made = try decoded(square.bytes).flattened(.rgb)
      #expect(psnr(made, expected) > 19, "\(scene)")
    }
  }

  @Test func `a lossless JPEG crop keeps the subject within its block grid`() throws {
    let scene = Scene.all[0]
    let file = try PictureFile(Self.jpeg(scene.bitmap, JPEGKind(name: ""), 1))
    var crop = Self.crop
    crop.lossless = true

    let square = try crop.apply(to: file)

    let wish = try Self.crop.framing(of: file).window
    #expect(square.method == .lossless)
    #expect((wish.x + square.shift.x) % 16 == 0 && abs(square.shift.x) <= 16)
    let place = wish.x + square.shift.x
    #expect(scene.isKept(by: PixelRegion(x: place, y: 0, width: square.width, height: 200)))
  }

  @Test func `without a salient subject the centre is kept`() throws {
    func picture(_ colour: (Int, Int) -> [Int]) -> Bitmap {
      let samples = (0..<300 * 180).flatMap { index in
        colour(index % 300, index / 300).map { UInt8(clamping: $0) }
      }
      return Bitmap(width: 300, height: 180, layout: .rgb, samples: samples)
    }
    let plain = picture { _, _ in [200, 30, 60] }
    let gradient = picture { x, _ in [50 + x / 2, 50 + x / 2, 60 + x / 2] }
    let sky = picture { x, y in [90 + x / 4, 120 + x / 4, 250 - y / 2] }
    let disorder = picture { x, y in [128 + Scene.grain(x, y, 60), 128, 128] }
    let checks = picture { x, y in (x / 20 + y / 20) % 2 == 0 ? [240, 240, 240] : [150, 160, 180] }
    for bitmap in [plain, gradient, sky, disorder, checks] {
      let square = try Self.crop.apply(to: PictureFile(bitmap.png()))

      let point = try #require(square.gravity)
      #expect(abs(point.x - 150) <= 6, "\(point)")
    }
  }

  @Test func `transparent pixels are ignored`() throws {
    // The picture has a strong but transparent pattern at the left, and a pale subject at the right.
    let samples = (0..<300 * 120).flatMap { index -> [UInt8] in
      let (x, y) = (index % 300, index / 300)
      if x > 230, x < 280, y > 30, y < 90 { return [235, 235, 235, 255] }
      return x < 80 && (x / 4 + y / 4) % 2 == 0 ? [255, 0, 0, 0] : [0, 0, 0, 0]
    }
    let bitmap = Bitmap(width: 300, height: 120, layout: .rgba, samples: samples)

    for bytes in [try bitmap.png(), try webp(bitmap)] {
      let framing = try Self.crop.framing(of: PictureFile(bytes))

      #expect(framing.window.x >= 160 && framing.window.x <= 180, "\(framing.window)")
    }
  }

  @Test func `every sample layout is analysed`() throws {
    for (kind, size) in Sweep.pairs(PNGKind.all, [nil, 16]) {
      let file = try PictureFile(kind.bytes(width: 37, height: 24))
      var crop = Self.crop
      crop.size = size

      #expect(try crop.apply(to: file).gravity != nil)
    }
    for kind in JPEGKind.all {
      let file = try PictureFile(kind.bytes(width: 67, height: 49, length: 4))

      let square = try Self.crop.apply(to: file)

      #expect(square.width == 49 && !square.isDamaged)
    }
  }

  @Test func `a picture that fits its frame, or is contained, is not analysed`() {
    let probe = try? PictureProbe(JPEGKind(name: "").bytes(width: 40, height: 30))
    guard let probe else { return }
    var crop = Self.crop
    #expect(crop.needsLook(at: probe))
    crop.fit = .contain
    #expect(!crop.needsLook(at: probe))
    crop.fit = .cover
    crop.frame = PixelSize(width: 400, height: 300)
    #expect(!crop.needsLook(at: probe))
  }

  @Test(
    arguments: [
      ([0, 0, 0, 0, 0, 0, 0, 0], nil), ([1, 1, 1, 1, 1, 1, 1, 1], nil),
      ([0, 0, 0, 1, 1, 0, 0, 0], nil), ([5, 0, 0, 0, 0, 0, 0, 0], 0),
      ([0, 0, 0, 0, 0, 0, 0, 5], 1),
      ([0, 0, 0, 0, 0, 4, 0, 0], 0.875), ([0, 4, 4, 4, 0, 0, 0, 1], 0.125),
    ] as [([Float], Double?)]
  )
  func `the half with the most salience is chosen`(_ profile: [Float], _ place: Double?) {
    #expect(Attention.place(on: profile, share: 0.5) == place)
  }

  /// Subjects on a lawn, each with a centre, a radius and colours.
  private static func lawn(_ things: [(x: Int, y: Int, radius: Int, kind: Int)]) -> Bitmap {
    let kinds: [[[UInt8]]] = [
      [[190, 70, 30], [225, 150, 50]], [[200, 40, 50], [240, 220, 210]],
      [[120, 110, 200], [150, 140, 220]],
    ]
    var samples = Array(repeatElement([90, 130, 80] as [UInt8], count: 360 * 200).joined())
    for thing in things {
      let radius = thing.radius
      for y in max(thing.y - radius, 0)...min(thing.y + radius, 199) {
        for x in max(thing.x - radius, 0)...min(thing.x + radius, 359) {
          let (across, down) = (x - thing.x, y - thing.y)
          guard across * across + down * down <= radius * radius else { continue }
          let colour = kinds[thing.kind][(x / 6 + y / 5) % 2]
          let start = (y * 360 + x) * 3
          for channel in 0..<3 { samples[start + channel] = colour[channel] }
        }
      }
    }
    return Bitmap(width: 360, height: 200, layout: .rgb, samples: samples)
  }

  @Test(
    arguments: [
      [(98, 150, 29, 2), (219, 106, 27, 1)], [(41, 51, 34, 0), (199, 35, 35, 0)],
      [(204, 162, 32, 2), (51, 158, 18, 2)],
      [(240, 66, 26, 2), (86, 60, 28, 1), (77, 161, 30, 1)],
      [(27, 16, 13, 2), (253, 174, 22, 2), (179, 126, 20, 1), (80, 188, 10, 0)],
    ] as [[(x: Int, y: Int, radius: Int, kind: Int)]]
  )
  func `a window's edge avoids cutting things that fit inside`(
    _ things: [(x: Int, y: Int, radius: Int, kind: Int)]
  ) throws {
    let mirrored = things.map { (x: 359 - $0.x, y: $0.y, radius: $0.radius, kind: $0.kind) }
    for things in [things, mirrored] {
      let file = try PictureFile(Self.lawn(things).png())

      let window = try Self.crop.framing(of: file).window

      for thing in things {
        let isIn =
          thing.x - thing.radius >= window.x - 4
          && thing.x + thing.radius <= window.x + window.width + 4
        let isOut =
          thing.x + thing.radius <= window.x + 4
          || thing.x - thing.radius >= window.x + window.width - 4
        #expect(isIn || isOut, "\(thing) in \(window)")
      }
    }
  }

  @Test(
    arguments: [
      ([0, 4, 4, 0, 0, 2, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0], 0.125, 0.0625),
      ([0, 0, 2, 2, 2, 2, 2, 0, 0, 0, 0, 4, 4, 4, 0, 0], 0.75, 1),
      ([0, 2, 2, 0, 4, 4, 4, 0, 0, 0, 3, 3, 3, 0, 0, 0], nil, 0.125),
      ([1, 1, 1, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0], 0.25, nil),
    ] as [([Float], Double?, Double?)]
  )
  func `among nearly equal windows the one whose edges cut less is chosen`(
    _ profile: [Float],
    _ plain: Double?,
    _ careful: Double?
  ) {
    let cuts = Plane(width: profile.count, height: 1, values: profile)
      .cuts(isAcross: true, above: 0)

    #expect(Attention.place(on: profile, share: 0.5) == plain)
    #expect(Attention.place(on: profile, cuts: cuts, share: 0.5) == careful)
    let mirrored = Attention.place(
      on: profile.reversed(),
      cuts: cuts.reversed(),
      share: 0.5
    )
    #expect(mirrored == careful.map { 1 - $0 })
  }

  @Test func `an edge cuts content that lies on both sides of it`() {
    let plane = Plane(width: 4, height: 2, values: [0, 5, 3, 0, 0, 1, 1, 0])

    // The values above 1 are 4 and 2; an edge between them cuts through 2.
    #expect(plane.cuts(isAcross: true, above: 1) == [0, 0, 2 / 6.0, 0, 0])
    #expect(plane.cuts(isAcross: false, above: 0) == [0, 2 / 10.0, 0])
    #expect(plane.cuts(isAcross: true, above: 5) == [0, 0, 0, 0, 0])
  }
}
