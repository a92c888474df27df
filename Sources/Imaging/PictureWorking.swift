import SystemPackage

/// Where pictures are made: in this process, or in others that a picture can do no harm to.
package protocol PictureWorking: Sendable {
  /// Makes a picture. Blocks; called on several threads at once.
  ///
  /// - Parameters:
  ///   - order: What is to be made.
  ///   - input: Of which picture.
  ///   - output: The file that the result becomes once the caller has it written; nil for one that is wanted in memory.
  ///   - isStopped: Asked several times a second where the work can be given up; true gives it up.
  /// - Returns: What was made.
  /// - Throws: ``ImagingError`` when nothing can be made of it.
  func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(ImagingError) -> EncodedPicture
}

/// Makes pictures in this process, on the caller's thread, which nothing can interrupt.
package struct PicturesHere: PictureWorking {
  package init() {}

  package func make(
    _ order: PictureOrder,
    of input: PictureInput,
    for output: FilePath?,
    isStopped: () -> Bool
  ) throws(ImagingError) -> EncodedPicture {
    try order.make(from: input.file(order.limits), for: output.map { PictureOutput($0) })
  }
}
