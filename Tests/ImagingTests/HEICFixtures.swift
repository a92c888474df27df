import Foundation
import Testing

@testable import Imaging

/// An HEVC picture of 64 × 64 pixels, which shows the wave of length 4 and was encoded by x265 3.5.
///
/// The bytes are stored here, so that the tests need no encoder. The tests combine the same few pictures to different
/// HEIC files.
struct HEVCFixture: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The decoder configuration record.
  let parameters: [UInt8]
  /// One NAL unit with its length.
  let data: [UInt8]

  private init(_ name: String, _ parameters: String, _ data: String) {
    testDescription = name
    self.parameters = Array(Data(base64Encoded: parameters) ?? Data())
    self.data = Array(Data(base64Encoded: data) ?? Data())
  }

  /// A picture of 8 bits, 4:2:0.
  static let colour = HEVCFixture(
    "of 8 bits, 4:2:0",
    "AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEB"
      + "A3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQA==",
    "AAABMCgBrwT47en3Pvlnqua0YIj3Uw4W7R0bdTjDaYzSf3n8/2vsG+f5FZvcQua5r6qjkNk9BQhiHzf7"
      + "i8tyyO0U5qKfrWFHpGiH4FM3vmwPV7KnlWThbzb/Gmgy3zIBr9lQrrhVJRWq3HmGtucnU+g+dk/FZqzO"
      + "cXV1KyS1iaLlnH0BDoE4On9WWjhGYZmrB+FvP0U3upqtgQ1ZGN/tt6yRGm7Hv0abK40kqS/GC/fXd9F3"
      + "mhnmN/eZnRqjvf8dhR0VMbnHZH7KTB4LmmoqB/RDtxzRvYLaW4+lzWeVgpvo4HIyHThl98l96ByhR1la"
      + "TSfhSbAP+/jtgC/3/anQIL/LYkFdl8UC25/lx/A/wRD5JVeXE7JymKNXaVx7x/eP9Wbt3ZMftGBs3rXg"
      + "wgYjWjz9HZY="
  )

  /// A picture of 10 bits, 4:2:0.
  static let deep = HEVCFixture(
    "of 10 bits, 4:2:0",
    "AQQIAAAAAAAAAAAAHvAA/P36+gAADwMgAAEAF0ABDAH//wQIAAADAJ24AAADAAAeugJAIQABACpCAQEE"
      + "CAAAAwCduAAAAwAAHqAggQTZbqSSmubgQEDAgAAAAwCAAAADAIQiAAEAB0QBwXKwIkA=",
    "AAAA/CgBrwT48oZ9z75Z6rxQvgXFBUw4W6Rr5N51Ti7YgfyVRbaWl+O68e955h/3M9TR8KK0MHOlJh83"
      + "/VyEnFNwNrAvGBy/MC3UeF0g+XxFZxaumfvhuoCgs8V14tRFAPOxmmOUeRjJareSSGVH91PoPnZQNGbI"
      + "jnF1gwuTtd1rXxk0RBgb4Ow72K7QU3FLsut3r9idYsxabEjXy5/t6tmcb7kIRj0XTN1k7rVWNudVHTY2"
      + "5UquIE5CTLVg10OHB8mEkABrh0JtkM1xFFxJYVU8YnNszSw4X3MRfxJi2kx7hyVL/HftftzR9pzW67LJ"
      + "A5KgfAqoE9Ju6i3IuG1YiA=="
  )

  /// A picture of 8 bits, 4:4:4.
  static let full = HEVCFixture(
    "of 8 bits, 4:4:4",
    "AQQIAAAAAAAAAAAAHvAA/P/4+AAADwMgAAEAF0ABDAH//wQIAAADAJ44AAADAAAeugJAIQABACpCAQEE"
      + "CAAAAwCeOAAAAwAAHpAEECCy3UklNc3AgIGBAAADAAEAAAMAAQgiAAEACEQBwXKGDAIk",
    "AAABJygBrwT47f8oH3c++Weq5rRgiPdTDhbtHRt1OMNpjNJ/efz/a+wb5/kVm9xC5rmyNFctKSBEhWO4"
      + "Vz/q5P7hhH59CTqJa7DGChxy2a4AHsjKnlWThbzX+ZdFcKROOrLbYoiirKYZAjaLY1bhT6DxI6f2qH7B"
      + "toeelHVk2IqTERIDNhSLF9EWNu2shZdf3a1vPaNn6dSWfr3gVRxO0JzKYcsImnRO2nODOGfgjcfe+ypN"
      + "zr0can3/HYFzMrzr2qfk+dYcddRYQBdDLo1IS8dQx+GEDnB8biVAxYOgbAycuUvaiiZ1K1r1KrpvBrd+"
      + "vuns9ke91rlgFU0DxpRKvKoBdkLQ9SHB7fRPT0K7gaEX5iKGnDS56atmSWMiQELIxYyYjFJQuwUVjj4="
  )

  /// A picture of 8 bits without colour.
  static let grey = HEVCFixture(
    "of 8 bits without colour",
    "AQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACZCAQEE"
      + "CAAAAwCf+AAAAwAAHsCCBBZbqSSmubAgAAADACAAAAMAISIAAQAHRAHBcrAiQA==",
    "AAAA3ygBrgnw7YGTNmGuYGF2z3LnINXTcf8ldCiri3khr1lWB2qGcXzm+c39nk7FhnlVHRDDhekRGbi7"
      + "xQz2RTBdtphGAIYFXNx3s/vBbYKf8NLYnXQ1qmMOANe6uVOTaugigHqsp2U+1DiVSRB/TK2ZICyzIqvK"
      + "aI/KMKvV9P9cPi1qieUf+k1U0k4Euauc5zuBIWCLQmuhRX/V3KOzfpoWGT1D58b0sWpFmY9N5sV5bgKf"
      + "nrcrbLNdZHfyY42QSYGmbFUssi9zesHLCfbWUkIJ24fnjgmICuYe8wB8ad2qF8A="
  )

  static let all = [colour, deep, full, grey]
}

/// An ISO box with size and type. (ISO/IEC 14496-12, 4.2)
func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
  big(payload.count + 8, 4) + Array(type.utf8) + payload
}

/// A box with a version and no flags.
func box(_ type: String, version: UInt8, _ payload: [UInt8]) -> [UInt8] {
  box(type, [version, 0, 0, 0] + payload)
}

/// A big-endian number of `count` bytes.
func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

/// An item of a HEIC file.
struct HEIFItem {
  var type: String
  var data: [UInt8] = []
  var properties: [[UInt8]] = []
  var references: [(type: String, to: [Int])] = []
  /// Whether the data is stored in the `idat` box.
  var isWithin = false
  /// Further bytes after the type in the item's entry.
  var more: [UInt8] = []

  /// A picture item that declares this size.
  static func still(
    _ picture: HEVCFixture,
    _ size: (width: Int, height: Int) = (64, 64),
    _ properties: [[UInt8]] = []
  ) -> HEIFItem {
    let own = [extents(size.width, size.height), box("hvcC", picture.parameters)]
    return HEIFItem(type: "hvc1", data: picture.data, properties: own + properties)
  }

  /// A grid of other items as tiles, row by row.
  static func grid(
    _ columns: Int,
    _ rows: Int,
    _ size: (width: Int, height: Int),
    of cells: [Int],
    _ properties: [[UInt8]] = []
  ) -> HEIFItem {
    HEIFItem(
      type: "grid",
      data: [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + big(size.width, 2) + big(size.height, 2),
      properties: [extents(size.width, size.height)] + properties,
      references: [("dimg", cells)],
      isWithin: true
    )
  }

  static func extents(_ width: Int, _ height: Int) -> [UInt8] {
    box("ispe", version: 0, big(width, 4) + big(height, 4))
  }
}

/// A HEIC file of items numbered from 1; the first is the primary picture.
func heic(_ items: [HEIFItem], brand: String = "heic") -> [UInt8] {
  let type = box("ftyp", Array((brand + "\0\0\0\0mif1heic").utf8))
  let boxes = heicBoxes(items, data: 0)
  let data = items.filter { !$0.isWithin }.flatMap(\.data)
  return type + heicBoxes(items, data: type.count + boxes.count + 8) + box("mdat", data)
}

private func heicBoxes(_ items: [HEIFItem], data start: Int) -> [UInt8] {
  var (entries, places, properties, associations) = ([UInt8](), [UInt8](), [UInt8](), [UInt8]())
  var (references, within, known, place) = ([UInt8](), [UInt8](), 0, start)
  for (item, number) in zip(items, 1...) {
    entries += box(
      "infe",
      version: 2,
      big(number, 2) + [0, 0] + Array(item.type.utf8) + [0] + item.more
    )
    places += big(number, 2) + big(item.isWithin ? 1 : 0, 2) + [0, 0] + big(1, 2)
    places += big(item.isWithin ? within.count : place, 4) + big(item.data.count, 4)
    if item.isWithin { within += item.data } else { place += item.data.count }
    associations += big(number, 2) + [UInt8(item.properties.count)]
    for property in item.properties {
      properties += property
      known += 1
      associations += [UInt8(known)]
    }
    for reference in item.references {
      let to = reference.to.flatMap { big($0, 2) }
      references += box(reference.type, big(number, 2) + big(reference.to.count, 2) + to)
    }
  }
  return box(
    "meta",
    version: 0,
    box("hdlr", version: 0, big(0, 4) + Array("pict".utf8) + big(0, 13))
      + box("pitm", version: 0, big(1, 2))
      + box("iloc", version: 1, [0x44, 0] + big(items.count, 2) + places)
      + box("iinf", version: 0, big(items.count, 2) + entries)
      + box(
        "iprp",
        box("ipco", properties) + box("ipma", version: 0, big(items.count, 4) + associations)
      ) + box("iref", version: 0, references) + box("idat", within)
  )
}
