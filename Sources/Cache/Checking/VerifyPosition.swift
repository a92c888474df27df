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

  /// A check that goes on where another one stopped.
  ///
  /// What seemed wrong then is looked at again with the rest.
  ///
  /// - Parameters:
  ///   - earlier: The other one.
  ///   - isFull: How closely the files are looked at now.
  ///   - ids: The pictures that are held now, in order.
  init(after earlier: VerifyPosition, isFull: Bool, among ids: [PictureID]) {
    self = earlier
    self.isFull = isFull
    checked = last.map { last in ids.prefix { $0 <= last }.count } ?? 0
  }

  /// Notes what was found wrong with a picture.
  mutating func note(_ verdict: FileVerdict, at path: String) {
    switch verdict {
    case .good: break
    case .missing: missing.append(path)
    case .damaged, .unreadable: damaged.append(path)
    }
  }

  /// Moves behind pictures that were looked at.
  mutating func pass(_ ids: [PictureID]) {
    checked += ids.count
    last = ids.last ?? last
  }
}
