import Transport

/// A picture's body that has arrived in full, and what is to be made of it.
struct ArrivedBody: Sendable {
  /// Makes the row to write, on the lane, because the transfer thread has no time to read headers.
  let entry: @Sendable () -> PictureEntry
  let type: PictureType?
  /// The bytes that were not handed on before.
  let rest: [UInt8]
  /// Where those went that were.
  let spill: PictureSpill?
  /// Whether the transport can tell that nothing is missing.
  let provesEnd: Bool
  /// What was held before, if anything.
  let previous: PictureEntry?
  let completion: @Sendable (PictureOutcome) -> Void
}
