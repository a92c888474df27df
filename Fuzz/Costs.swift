import Glibc
import SystemPackage

/// What one picture may cost: half a second of a processor and 256 MiB.
///
/// Larger pictures, with `FUZZ_LIMITS=whole`, may take as much more time as ordinary ones of their size
/// do; and more memory where all of a picture is held while it is decoded (docs/decisions, 07).
/// Sanitizers slow a run down: one that takes longer is kept in the folder `FUZZ_SLOW`, and judged by a
/// build without them, where there is no such folder.
struct Costs {
  private let began: Double
  private let input: [UInt8]

  init(of input: [UInt8]) {
    self.input = input
    costs_begin()
    began = costs_seconds()
  }

  /// Judges what was taken since this was made, for a picture of `pixels`.
  func check(pixels: Int, _ format: PictureFormat, isDeep: Bool = false) {
    let (seconds, bytes) = (costs_seconds() - began, costs_bytes())
    let more = isWhole ? pixels : 0
    let held = format == .webp ? 8 : format == .avif ? (isDeep ? 24 : 16) : format == .png ? 4 : 0
    expect(bytes <= 256 << 20 + more * held, "it takes \(bytes) bytes of memory")
    guard seconds > 0.5 + Double(more) * 40e-9 else { return }
    guard let folder = getenv("FUZZ_SLOW") else {
      return expect(false, "it takes \(seconds) seconds of a processor")
    }
    let sum = input.reduce(UInt64(5381)) { $0 &* 33 ^ UInt64($1) }
    let path = FilePath(String(cString: folder)).appending(String(sum, radix: 16))
    try? WholeFile.write(input, to: path, overwrite: true)
  }
}

/// Whether pictures of up to 50 megapixels are read; else none of more than one.
let isWhole = getenv("FUZZ_LIMITS").map { String(cString: $0) } == "whole"

@_silgen_name("costs_begin") private func costs_begin()
@_silgen_name("costs_seconds") private func costs_seconds() -> Double
@_silgen_name("costs_bytes") private func costs_bytes() -> Int
