import Cache
import Imaging
import SystemPackage

extension Crop {
  /// Makes the square of a picture that is held.
  ///
  /// - Parameters:
  ///   - picture: The picture's row, whose bytes the file must have.
  ///   - cache: The path of the cache that holds it.
  /// - Returns: The square.
  /// - Throws: ``ImagingError`` when none can be made, as of a picture that is damaged: nobody could tell its square from
  ///   a whole one's.
  package func square(
    of picture: PictureEntry,
    in cache: String
  ) throws(ImagingError) -> EncodedPicture {
    let path = FilePath("\(cache)/\(picture.name.path)")
    return try square(of: picture, try PictureFile(path, limits: limits))
  }

  /// The same of bytes in memory.
  package func square(
    of picture: PictureEntry,
    _ bytes: [UInt8]
  ) throws(ImagingError) -> EncodedPicture {
    let file = try PictureFile(bytes, name: picture.name.path, limits: limits)
    return try square(of: picture, file)
  }

  private func square(
    of picture: PictureEntry,
    _ file: PictureFile
  ) throws(ImagingError) -> EncodedPicture {
    let path = picture.name.path
    guard ContentDigest.sha256(file.bytes) == picture.sha256 else {
      throw ImagingError(
        .damaged,
        "cannot crop \(path): it is not what was fetched; repair the cache and sync again"
      )
    }
    let square = try apply(to: file)
    guard !square.isDamaged else {
      throw ImagingError(
        .damaged,
        "cannot crop \(path): a part of it is missing or broken; have its shop mend it"
      )
    }
    return square
  }
}
