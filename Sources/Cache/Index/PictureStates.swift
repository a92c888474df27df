import Synchronization
import Transport

/// What an index knows of every picture, read once: when somebody first asks.
///
/// A run asks its origins first, and reads this while they answer: it grows with the cache, to a fifth of a second for a
/// million pictures. It is read before the first picture is asked for, and so before the run writes the first row.
package final class PictureStates: Sendable {
  private let index: Index
  private let found = Mutex<Result<Found, CacheError>?>(nil)

  private typealias Found = (states: [PictureID: PictureState], bytes: ByteCount)

  /// What an index knows; nothing is read yet.
  package init(_ index: Index) {
    self.index = index
  }

  /// Reads the states, where nobody has; a failure is told to all who ask.
  ///
  /// - Returns: The state of every picture that has a row, and the bytes that are held of all.
  /// - Throws: ``CacheError`` when the index cannot be read.
  @discardableResult
  package func read() throws(CacheError) -> (states: [PictureID: PictureState], bytes: ByteCount) {
    let result = found.withLock { found in
      if let found { return found }
      let result = Result { () throws(CacheError) in try index.pictureStates() }
      found = result
      return result
    }
    return try result.get()
  }
}
