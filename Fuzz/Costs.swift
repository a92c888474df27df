import Glibc
import SystemPackage

/// Checks that one picture takes at most half a second of processor time and 256 MiB of memory.
///
/// With `FUZZ_LIMITS=whole`, the time limit grows with the number of pixels, as the time of ordinary pictures does. The
/// memory limit grows only for formats that hold a whole picture while decoding it (docs/decisions, 07). Because
/// sanitizers slow a run down, an input that takes too long is stored in the folder that `FUZZ_SLOW` names, if any. A
/// build without sanitizers then checks it again.
struct Costs {
  private let began: Double
  private let input: [UInt8]

  init(of input: [UInt8]) {
    self.input = input
    costs_begin()
    began = costs_seconds()
  }

  /// Checks the time and memory that were used since this value was made, for a picture of `pixels`.
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

/// Whether pictures of up to 50 megapixels are read; if false, the limit is one megapixel.
let isWhole = getenv("FUZZ_LIMITS").map { String(cString: $0) } == "whole"

@_silgen_name("costs_begin") private func costs_begin()
@_silgen_name("costs_seconds") private func costs_seconds() -> Double
@_silgen_name("costs_bytes") private func costs_bytes() -> Int
