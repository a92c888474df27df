import Transport

/// A picture's body that has arrived in full, and what is to be made of it.
///
/// A class, for it goes from hand to hand and each copy of its many parts would be counted in and out.
final class ArrivedBody: @unchecked Sendable {
  // SAFETY: `rest` is touched by one thread at a time: the one that made it, then its lane. All else is constant.

  /// Makes the row to write, on the lane, because the transfer thread has no time to read headers.
  let entry: @Sendable () -> PictureEntry
  let type: PictureType?
  /// The bytes that were not handed on before.
  private(set) var rest: [UInt8]
  /// Where those went that were.
  let spill: PictureSpill?
  /// Whether the transport can tell that nothing is missing.
  let provesEnd: Bool
  /// What was held before, if anything.
  let previous: PictureEntry?
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: @escaping @Sendable () -> PictureEntry,
    arrival: PictureSink.Arrival,
    previous: PictureEntry?,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    type = arrival.type
    rest = arrival.rest
    spill = arrival.spill
    provesEnd = arrival.provesEnd
    self.previous = previous
    self.completion = completion
  }

  /// Hands out the bytes, and keeps none.
  func takeRest() -> [UInt8] {
    let bytes = rest
    rest = []
    return bytes
  }
}
