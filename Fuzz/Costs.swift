import Glibc
import SystemPackage

/// Checks the cost of one picture: at most half a second of processor time and 256 MiB.
///
/// With `FUZZ_LIMITS=whole`, larger pictures may take as much more time as ordinary ones of their size. They may take
/// more memory where a picture is held as a whole while it is decoded (docs/decisions, 07). Sanitizers slow a run down.
/// So if `FUZZ_SLOW` names a folder, an input that takes too long is kept there, and checked later by a build without
/// them.
struct Costs {
  private let began: Double
  private let input: [UInt8]

  init(of input: [UInt8]) {
    self.input = input
    costs_begin()
    began = costs_seconds()
  }

  /// Checks what was used since this was made, for a picture of `pixels`.
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

/// Whether pictures of up to 50 megapixels are read; if not, of up to one megapixel.
let isWhole = getenv("FUZZ_LIMITS").map { String(cString: $0) } == "whole"

@_silgen_name("costs_begin") private func costs_begin()
@_silgen_name("costs_seconds") private func costs_seconds() -> Double
@_silgen_name("costs_bytes") private func costs_bytes() -> Int
