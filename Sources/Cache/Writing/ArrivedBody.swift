import Transport

/// A picture's body that has arrived in full, and what is to be made of it.
///
/// A class: passing it costs one retain.
final class ArrivedBody: @unchecked Sendable {
  // SAFETY: `rest` is touched by one thread at a time: the one that made it, then its lane. All else is constant.

  /// Makes the row to write, on the lane, because the transfer thread has no time to read headers.
  let entry: @Sendable () -> PictureEntry
  /// What the first bytes are; nil when they are of no picture, or too few to tell.
  let type: PictureType?
  /// The bytes that were not handed on before.
  private(set) var rest: [UInt8]
  /// Where those went that were.
  let spill: PictureSpill?
  /// The lane that it has to follow its earlier pieces to; nil when there were none.
  let lane: IngestLane?
  /// Whether the transport can tell that nothing is missing.
  let provesEnd: Bool
  /// What was held before, if anything.
  let previous: PictureEntry?
  /// Whom to tell when it is durable, or refused.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: @escaping @Sendable () -> PictureEntry,
    type: PictureType?,
    rest: [UInt8],
    spill: PictureSpill?,
    lane: IngestLane?,
    provesEnd: Bool,
    previous: PictureEntry?,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    self.type = type
    self.rest = rest
    self.spill = spill
    self.lane = lane
    self.provesEnd = provesEnd
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
