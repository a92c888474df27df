import Base

/// The `ftyp` box, with which an ISO media file such as an AVIF begins. (ISO/IEC 14496-12, 4.3)
enum FileType {
  /// Whether a file begins with an `ftyp` box whose major brand is one of `names`, such as `avif`.
  ///
  /// If the major brand is a general one such as `mif1`, which names no codec, the compatible brands are checked
  /// instead. If the box is longer than `head`, the rest of its brands is ignored.
  static func isOne(of names: [String], _ head: [UInt8]) -> Bool {
    guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return false }
    func brand(_ place: Int) -> String {
      String(decoding: head[place..<place + 4], as: UTF8.self)
    }
    let (major, size) = (brand(8), head[..<4].reduce(0) { $0 << 8 | Int($1) })
    return names.contains(major)
      || ["mif1", "msf1", "miaf"].contains(major)
        && stride(from: 16, through: min(size, head.count) - 4, by: 4).contains {
          names.contains(brand($0))
        }
  }
}

/// Reads the boxes of an ISO media file, and the numbers in them, one after the other. (ISO/IEC 14496-12, 4.2)
struct BoxReader {
  /// The bytes that were not read yet; their indices are those of the file.
  private(set) var rest: ArraySlice<UInt8>
  /// The error for bytes that end too early.
  let failure: LarderError

  init(_ bytes: ArraySlice<UInt8>, _ failure: LarderError) {
    (rest, self.failure) = (bytes, failure)
  }

  /// The next `count` bytes.
  mutating func bytes(_ count: Int) throws(LarderError) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw failure }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// The next big-endian number of `count` bytes, which must be below 2^48.
  mutating func number(_ count: Int) throws(LarderError) -> Int {
    let value = try bytes(count).reduce(0) { $0 << 8 | Int($1) }
    guard value >> 48 == 0 else { throw failure }
    return value
  }

  /// The type of the next box, such as `meta`, and a reader of its content; nil at the end.
  ///
  /// Bytes after the last box are ignored if they are too few for another box, for example a line feed that a program
  /// appended.
  mutating func box() throws(LarderError) -> (type: String, body: BoxReader)? {
    guard rest.count >= 8 else { return nil }
    let start = rest.startIndex
    var size = try number(4)
    let type = String(decoding: try bytes(4), as: UTF8.self)
    if size == 1 { size = try number(8) }
    let header = rest.startIndex - start
    if size == 0 { size = header + rest.count }
    guard size >= header else { throw failure }
    return (type, BoxReader(try bytes(size - header), failure))
  }

  /// The content of the first `meta` box of a file; nil if there is none.
  ///
  /// If the bytes behind the media data (`mdat`) are no whole box, they are ignored, as in libavif and libheif. Some
  /// programs append such bytes.
  ///
  /// - Throws: `failure` when any other box is incomplete.
  static func meta(
    of file: [UInt8],
    _ failure: LarderError
  ) throws(LarderError) -> BoxReader? {
    var (all, meta, hasData) = (BoxReader(file[...], failure), BoxReader?.none, false)
    while true {
      let type = String(decoding: all.rest.dropFirst(4).prefix(4), as: UTF8.self)
      do throws(LarderError) {
        guard let box = try all.box() else { return meta }
        if type == "meta", meta == nil { meta = box.body }
        hasData = hasData || type == "mdat"
      } catch {
        guard hasData, !["meta", "moov", "mdat"].contains(type) else { throw error }
        return meta
      }
    }
  }
}
