/// Limits of a run on the decoding of a body, such as its deadline, beside those of every body.
package struct DecodingLimits: Sendable {
  /// How many elements of a listing may be lost before the rest of it is left unread; nil reads all of it.
  package var maxSkipped: SkipLimit?
  /// Asked now and then whether decoding is to end, as at a deadline.
  package var isStopped: @Sendable () -> Bool

  /// Limits from their parts.
  package init(
    maxSkipped: SkipLimit? = nil,
    isStopped: @escaping @Sendable () -> Bool = { false }
  ) {
    self.maxSkipped = maxSkipped
    self.isStopped = isStopped
  }

  /// Throws once decoding is to end.
  func demandTime(_ subject: String) throws(CatalogError) {
    guard isStopped() else { return }
    throw CatalogError(.stopped, subject: subject, reason: "the run ended while it was read")
  }
}

/// How many sections one response may hold.
enum SectionLimit {
  static let most = 10_000

  /// Refuses a response of more.
  static func check(_ count: Int) throws(CatalogError) {
    guard count > most else { return }
    throw CatalogError(
      .unexpectedShape,
      subject: "sections",
      expected: "at most \(most) sections",
      reason: "the response has \(count) sections, and larder reads \(most) at most",
      remedy: "correct \"each\" under sections, or ask for less"
    )
  }
}
