/// The box that a file of ISO's media formats begins with, as far as it lies in the file's first bytes.
/// (ISO/IEC 14496-12, 4.3)
struct FileType {
  /// The major brand, then those that the file is compatible with.
  private let brands: [ArraySlice<UInt8>]

  /// Reads a file's first bytes; nil where they are no such box.
  init?(_ head: [UInt8]) {
    guard head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
    let size = head[..<4].reduce(0) { $0 << 8 | Int($1) }
    let ends = stride(from: 20, through: min(size, head.count), by: 4)
    brands = [head[8..<12]] + ends.map { head[($0 - 4)..<$0] }
  }

  /// Whether one of these is the major brand, or a compatible one of an image whose major brand names no codec.
  func holds(_ names: [String]) -> Bool {
    func isOne(_ brand: ArraySlice<UInt8>, of names: [String]) -> Bool {
      names.contains { brand.elementsEqual($0.utf8) }
    }
    guard let major = brands.first, !isOne(major, of: names) else { return true }
    return isOne(major, of: ["mif1", "msf1", "miaf"])
      && brands.dropFirst().contains { isOne($0, of: names) }
  }
}
