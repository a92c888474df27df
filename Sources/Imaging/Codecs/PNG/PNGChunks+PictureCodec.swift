import Base
import CPNG

extension PNGChunks: PictureCodec {
  static let name = "PNG"
  static var kept: PictureFormat { .png }

  static func begins(_ head: [UInt8]) -> Bool {
    head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  }

  /// Whether the file has the end chunk, IEND. (PNG, section 11.2.5)
  static func ends(head: [UInt8], tail: [UInt8], count: Int) -> Bool {
    tail.holds(Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82])
  }

  var isIndexed: Bool { colourType == 3 }
  var chroma: ChromaSampling? { channels > 2 || isIndexed ? .full : nil }

  /// The profile in the iCCP chunk; empty if there is a cICP chunk, which takes precedence over it.
  func profile(of file: PictureFile, _ limits: PictureLimits) -> [UInt8] {
    guard namedColours == nil else { return [] }
    return colour.lazy.compactMap { Self.unpacked(file.bytes[$0], limits) }.first ?? []
  }

  /// The profile in an iCCP chunk; nil if it is invalid.
  ///
  /// The chunk consists of a name, a zero, the compression method 0, and a zlib stream.
  private static func unpacked(_ chunk: ArraySlice<UInt8>, _ limits: PictureLimits) -> [UInt8]? {
    let body = chunk.dropFirst(4)
    guard body.starts(with: "iCCP".utf8), let zero = body.dropFirst(4).firstIndex(of: 0),
      zero + 2 < chunk.endIndex - 4
    else { return nil }
    let packed = chunk[(zero + 2)..<(chunk.endIndex - 4)]
    var isWhole = false
    let count = packed.withUnsafeBufferPointer { bytes in
      cpng_unpacked_bytes(bytes.baseAddress, bytes.count, limits.metadataBytes, &isWhole)
    }
    guard isWhole, count > 0, count <= limits.metadataBytes else { return nil }
    var size = UInt(count)
    let profile = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
      isWhole = packed.withUnsafeBufferPointer {
        uncompress(target.baseAddress, &size, $0.baseAddress, UInt($0.count)) == Z_OK
      }
      initialized = isWhole ? Int(size) : 0
    }
    return isWhole ? profile : nil
  }

  func exif(in bytes: [UInt8]) -> ArraySlice<UInt8>? { exif.map { bytes[$0] } }

  /// The XMP packet; empty if it is compressed, or has a language tag or a translated keyword.
  func xmp(in bytes: [UInt8]) -> [UInt8] {
    let part = metadata.first { bytes[$0].dropFirst(4).starts(with: PictureTags.pngXMP) }
    let head = 4 + PictureTags.pngXMP.count
    return part.map { Array(bytes[$0].dropFirst(head).dropLast(4)) } ?? []
  }

  func rows(
    of file: PictureFile,
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: RowRequest,
    _ limits: PictureLimits
  ) throws(LarderError) -> OpenRows {
    let rows = try PNGRows(
      bytes,
      self,
      request.region,
      isNative: request.isNative,
      limits,
      name: file.name
    )
    return OpenRows(source: rows)
  }

  static func encode(
    _ rows: any RowSource,
    _ encoding: PictureEncoding
  ) throws(LarderError) -> EncodedFile {
    try PNGCodec.encode(
      rows,
      to: encoding.tags.output(to: encoding.place),
      encoding.crop.limits,
      name: encoding.source.name
    )
  }
}
