import Testing

@testable import Imaging

/// The placement of a picture in its frame: which region is kept, its size, and its position.
struct FramingTests {
  /// The options of a crop and the expected plan.
  struct Wish: Sendable, CustomTestStringConvertible {
    var upright: (Int, Int)
    var frame: (Int, Int)?
    var fit = PictureFit.cover
    var gravity = Gravity.centre
    var enlarges = true
    /// The left, top, width and height of the kept region.
    var window: (Int, Int, Int, Int)
    var scaled: (Int, Int)
    var canvas: (Int, Int)?
    var place = (0, 0)

    var testDescription: String {
      "\(upright) into \(frame.map { "\($0)" } ?? "a square") by \(fit), \(gravity)"
    }
  }

  @Test(arguments: [
    // These are squares that are not scaled.
    Wish(upright: (1200, 800), window: (200, 0, 800, 800), scaled: (800, 800)),
    Wish(upright: (9, 15), gravity: .bottom, window: (0, 6, 9, 9), scaled: (9, 9)),
    // These are frames that the picture fills.
    Wish(
      upright: (1200, 800),
      frame: (300, 300),
      gravity: .right,
      window: (400, 0, 800, 800),
      scaled: (300, 300)
    ),
    Wish(
      upright: (1200, 800),
      frame: (640, 160),
      gravity: .top,
      window: (0, 0, 1200, 300),
      scaled: (640, 160)
    ),
    Wish(
      upright: (1200, 800),
      frame: (160, 640),
      gravity: .bottomLeft,
      window: (0, 0, 200, 800),
      scaled: (160, 640)
    ),
    // This is the closest shape that whole pixels allow.
    Wish(
      upright: (1000, 750),
      frame: (640, 427),
      window: (0, 41, 1000, 667),
      scaled: (640, 427)
    ),
    Wish(upright: (3000, 1), frame: (10, 10), window: (1499, 0, 1, 1), scaled: (10, 10)),
    // The result has the shape of the frame, but not its size.
    Wish(
      upright: (100, 80),
      frame: (300, 200),
      enlarges: false,
      window: (0, 6, 100, 67),
      scaled: (100, 67)
    ),
    Wish(upright: (100, 80), frame: (300, 200), window: (0, 6, 100, 67), scaled: (300, 200)),
    Wish(
      upright: (900, 600),
      frame: (300, 200),
      enlarges: false,
      window: (0, 0, 900, 600),
      scaled: (300, 200)
    ),
    // These are whole pictures within their frames.
    Wish(
      upright: (1200, 800),
      fit: .contain,
      window: (0, 0, 1200, 800),
      scaled: (1200, 800),
      canvas: (1200, 1200),
      place: (0, 200)
    ),
    Wish(
      upright: (1200, 800),
      frame: (300, 300),
      fit: .contain,
      gravity: .topRight,
      window: (0, 0, 1200, 800),
      scaled: (300, 200),
      canvas: (300, 300)
    ),
    Wish(
      upright: (800, 1200),
      frame: (300, 301),
      fit: .contain,
      gravity: .right,
      window: (0, 0, 800, 1200),
      scaled: (201, 301),
      canvas: (300, 301),
      place: (99, 0)
    ),
    Wish(
      upright: (100, 80),
      frame: (300, 300),
      fit: .contain,
      window: (0, 0, 100, 80),
      scaled: (300, 240),
      canvas: (300, 300),
      place: (0, 30)
    ),
    Wish(
      upright: (100, 80),
      frame: (300, 300),
      fit: .contain,
      gravity: .bottomRight,
      enlarges: false,
      window: (0, 0, 100, 80),
      scaled: (100, 80),
      canvas: (300, 300),
      place: (200, 220)
    ),
    Wish(
      upright: (3000, 1),
      frame: (100, 100),
      fit: .contain,
      gravity: .attention,
      window: (0, 0, 3000, 1),
      scaled: (100, 1),
      canvas: (100, 100),
      place: (0, 49)
    ),
    Wish(
      upright: (640, 480),
      frame: (320, 240),
      fit: .contain,
      window: (0, 0, 640, 480),
      scaled: (320, 240),
      canvas: (320, 240)
    ),
  ])
  func `a picture is placed in its frame`(_ wish: Wish) {
    let upright = PixelSize(width: wish.upright.0, height: wish.upright.1)

    var crop = Crop(gravity: wish.gravity)
    crop.frame = wish.frame.map { PixelSize(width: $0.0, height: $0.1) }
    (crop.fit, crop.enlarges) = (wish.fit, wish.enlarges)
    let framing = Framing(upright, crop, focus: Focus(wish.gravity, in: upright))

    let (x, y, width, height) = wish.window
    #expect(framing.window == PixelRegion(x: x, y: y, width: width, height: height))
    #expect(framing.scaled == PixelSize(width: wish.scaled.0, height: wish.scaled.1))
    let canvas = wish.canvas ?? wish.scaled
    #expect(framing.canvas == PixelSize(width: canvas.0, height: canvas.1))
    #expect((framing.place.x, framing.place.y) == wish.place)
  }

  @Test func `a plan stays within the picture and its frame, whatever their shapes`() {
    let sides = [1, 2, 3, 7, 100, 4031]
    for (width, height) in sides.flatMap({ side in sides.map { (side, $0) } }) {
      let upright = PixelSize(width: width, height: height)
      for (across, down) in sides.flatMap({ side in sides.map { (side, $0) } }) {
        for (fit, gravity) in PictureFit.allCases.flatMap({ fit in
          [Gravity.bottomRight, .centre].map { (fit, $0) }
        }) {
          let frame = PixelSize(width: across, height: down)
          var crop = Crop(gravity: gravity)
          (crop.frame, crop.fit) = (frame, fit)
          let made = Framing(upright, crop, focus: Focus(gravity, in: upright))

          let window = made.window
          #expect(made.canvas == frame)
          #expect(window.x >= 0 && window.x + window.width <= width)
          #expect(window.y >= 0 && window.y + window.height <= height)
          #expect(made.place.x >= 0 && made.place.x + made.scaled.width <= across)
          #expect(made.place.y >= 0 && made.place.y + made.scaled.height <= down)
          #expect(window.width == width || window.height == height)
          #expect(made.scaled.width == across || made.scaled.height == down)
        }
      }
    }
  }

  @Test(arguments: [
    ("#fff", PictureColour.white), ("#F80", PictureColour(red: 255, green: 136, blue: 0)),
    ("#12345678", PictureColour(red: 18, green: 52, blue: 86, alpha: 120)),
    ("#0008", PictureColour(red: 0, green: 0, blue: 0, alpha: 136)),
    ("Teal", PictureColour(red: 0, green: 128, blue: 128)), ("transparent", .transparent),
    ("#a1b2c3", PictureColour(red: 161, green: 178, blue: 195)),
    ("", nil), ("#", nil), ("fff", nil), ("#ff", nil), ("#12345", nil), ("#ggg", nil),
    ("#+12", nil),
    ("#１２３", nil), ("mauvish", nil), ("#1234567890", nil),
  ])
  func `a colour is read in CSS notation`(_ text: String, _ colour: PictureColour?) {
    #expect(PictureColour(text) == colour)
  }
}
