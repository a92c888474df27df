/// How far a check has come, so that an interrupted one can resume.
package struct VerifyPosition: Sendable, Equatable, Codable {
  /// How closely the files were looked at.
  package var isFull: Bool
  /// The last picture that was looked at, as all before it were; nil at the beginning.
  package var last: PictureID?
  /// How many were looked at.
  package var checked = 0
  /// Files whose bytes are not those that were committed.
  package var damaged: [String] = []
  /// Rows whose file is gone.
  package var missing: [String] = []

  /// The beginning of a check.
  package init(isFull: Bool) {
    self.isFull = isFull
  }
}
