/// A picture whose bytes are on the disk: in `partial/` first, then in their place, waiting for their row.
///
/// A class: passing it costs one retain.
final class StagedPicture: @unchecked Sendable {
  // SAFETY: `entry` and `partial` change on the commit queue only, before the picture joins a ``PlacedBatch``. Its lane
  // made it before, and the row queue reads it after. All else is constant.

  /// The row to write, complete.
  private(set) var entry: PictureEntry
  /// The file with the bytes until it is in its place; nil when those in place are kept.
  private(set) var partial: OpenFile?
  /// Where the file goes.
  let name: PictureName
  /// Whether a note lies beside the partial file.
  let hasNote: Bool
  /// The SHA-256 of the bytes held before, if any.
  let before: [UInt8]?
  /// What to tell once it is durable.
  let outcome: PictureOutcome
  /// Whom to tell.
  let completion: @Sendable (PictureOutcome) -> Void

  init(
    entry: PictureEntry,
    partial: OpenFile?,
    hasNote: Bool = false,
    before: [UInt8]?,
    outcome: PictureOutcome,
    completion: @escaping @Sendable (PictureOutcome) -> Void
  ) {
    self.entry = entry
    name = entry.name
    self.partial = partial
    self.hasNote = hasNote
    self.before = before
    self.outcome = outcome
    self.completion = completion
  }

  /// Notes that the file is in its place, with this stamp, and closes it: 256 pictures may wait for their rows, and
  /// would hold as many descriptors.
  func moveInto(_ stamp: FileStamp?) {
    entry.stamp = stamp
    partial = nil
  }
}
