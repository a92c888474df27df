import Transport

// The reasons that a run gives itself, besides those of a transfer.
extension FailureReason {
  /// The reason for a local file that cannot be read.
  package static let fileUnreadable = FailureReason(rawValue: "file-unreadable")
  /// The reason for a local file that does not exist.
  package static let noSuchFile = FailureReason(rawValue: "no-such-file")
  /// The reason why a body cannot be decoded, or why the catalog file's paths find no items in it.
  package static let undecodable = FailureReason(rawValue: "undecodable")
  /// The reason for a first sync of three or more details that found none of them.
  static let detailsMissing = FailureReason(rawValue: "details-missing")
  /// The reason for a field that has a path in the catalog file, but no value in any item of a section.
  static let fieldMissing = FailureReason(rawValue: "field-missing")
  /// The reason for a section with more pages than `paging.limit` in the catalog file.
  static let pageLimit = FailureReason(rawValue: "page-limit")
  /// The reason for a picture that has the same key as another picture.
  ///
  /// The key is a hash of the picture's identity, which is its URL or a part of it.
  package static let identityClash = FailureReason(rawValue: "identity-clash")
}
