/// What the embedded origin was told to do, and how much of the limit is its own.
package struct OriginFacts: Sendable, Equatable, Codable {
  /// What one number of connections got out of it without larder.
  package struct Ceiling: Sendable, Equatable, Codable {
    /// Connections at once.
    package var parallel: Int
    /// What a bare loop got: it asks, reads and throws away, and does nothing else.
    package var imagesPerSecond: Double
    /// The share of larder's cold time that the bare loop needs too; nil without a cold pass.
    package var share: Double?
  }

  /// How many pictures it has.
  package var pictures: Int
  /// The least and the greatest of their sizes, in bytes.
  package var sizes: [Int]
  /// How long it waits before each answer.
  package var delayMilliseconds: Double
  /// What its link carries in all, in bytes a second; nil without a limit.
  package var bytesPerSecond: Double?
  /// Its own limit at each parallelism.
  package var ceilings: [Ceiling] = []

  /// An origin of which nothing was measured yet.
  package init(
    pictures: Int,
    sizes: ClosedRange<Int>,
    delayMilliseconds: Double,
    bytesPerSecond: Double?
  ) {
    self.pictures = pictures
    self.sizes = [sizes.lowerBound, sizes.upperBound]
    self.delayMilliseconds = delayMilliseconds
    self.bytesPerSecond = bytesPerSecond
  }

  /// Notes what a bare loop got beside what larder did.
  ///
  /// - Parameters:
  ///   - parallel: Connections at once.
  ///   - bare: The bare loop's pictures a second.
  ///   - cold: larder's in the cold pass, if there was one.
  package mutating func note(parallel: Int, bare: Double, cold: Double?) {
    ceilings.append(
      Ceiling(
        parallel: parallel,
        imagesPerSecond: bare,
        share: cold.flatMap { bare > 0 ? min(1, $0 / bare) : nil }
      )
    )
  }
}
