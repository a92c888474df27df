import Cache
import Imaging
import SystemPackage

extension PictureWorking {
  /// Makes the square of a picture that is held.
  ///
  /// - Parameters:
  ///   - order: The crop that makes it.
  ///   - picture: The picture's row, whose bytes the file must have.
  ///   - cache: The path of the cache that holds it.
  ///   - isStopped: Asked while the square is made, where that can be given up.
  /// - Returns: The square.
  /// - Throws: ``ImagingError`` when none can be made, as of a picture that is damaged: nobody could tell its square from
  ///   a whole one's.
  package func square(
    _ order: PictureOrder,
    of picture: PictureEntry,
    in cache: String,
    isStopped: () -> Bool = { false }
  ) throws(ImagingError) -> EncodedPicture {
    let path = FilePath("\(cache)/\(picture.name.path)")
    let bytes = try PictureInput.bytes(of: path, order.limits)
    return try square(order, of: picture, bytes, isStopped: isStopped)
  }

  /// The same of bytes in memory.
  package func square(
    _ order: PictureOrder,
    of picture: PictureEntry,
    _ bytes: [UInt8],
    isStopped: () -> Bool = { false }
  ) throws(ImagingError) -> EncodedPicture {
    let path = picture.name.path
    guard ContentDigest.sha256(bytes) == picture.sha256 else {
      throw ImagingError(
        .damaged,
        "cannot crop \(path): it is not what was fetched; repair the cache and sync again"
      )
    }
    let input = PictureInput.bytes(bytes, name: path)
    let square = try make(order, of: input, for: nil, isStopped: isStopped)
    guard !square.isDamaged else {
      throw ImagingError(
        .damaged,
        "cannot crop \(path): a part of it is missing or broken; have its shop mend it"
      )
    }
    return square
  }
}
