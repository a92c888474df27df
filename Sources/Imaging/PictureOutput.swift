import SystemPackage

/// A file that a picture becomes, and how it is begun before it is whole.
struct PictureOutput: Sendable, Equatable, Codable {
  /// Where the file is to be.
  let path: FilePath
  /// Begins the file, which nobody sees until it is placed.
  let open: @Sendable () throws(ImagingError) -> PartFile

  /// A file that this process begins beside its place.
  init(_ path: FilePath) {
    self.init(path) { () throws(ImagingError) in try PartFile(for: path) }
  }

  /// A file that is begun in some other way.
  init(_ path: FilePath, open: @escaping @Sendable () throws(ImagingError) -> PartFile) {
    (self.path, self.open) = (path, open)
  }

  init(from decoder: any Decoder) throws {
    self.init(FilePath(try decoder.singleValueContainer().decode(String.self)))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(path.string)
  }

  static func == (left: PictureOutput, right: PictureOutput) -> Bool { left.path == right.path }
}
