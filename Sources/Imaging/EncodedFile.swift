import SystemPackage

/// The file of a picture that was made: in memory, or, where that is large and goes to a disk, there.
enum EncodedFile: Sendable, Equatable {
  /// All of its bytes.
  case held([UInt8])
  /// A file beside the one that it becomes.
  case waiting(PartFile)

  /// All of its bytes; those of a file are read.
  ///
  /// - Throws: ``ImagingError`` of code `disk`.
  func bytes() throws(ImagingError) -> [UInt8] {
    switch self {
    case .held(let bytes): bytes
    case .waiting(let part): try part.bytes()
    }
  }

  /// Puts the file at `path`, as ``WholeFile/write(_:to:overwrite:syncsFolder:)`` does; one that waits, where it was
  /// made for.
  func write(to path: FilePath, overwrite: Bool) throws(ImagingError) {
    switch self {
    case .held(let bytes):
      try WholeFile.write(bytes, to: path, overwrite: overwrite, syncsFolder: false)
    case .waiting(let part): try part.place(overwrite: overwrite)
    }
  }

  static func == (left: EncodedFile, right: EncodedFile) -> Bool {
    switch (left, right) {
    case (.held(let left), .held(let right)): left == right
    case (.waiting(let left), .waiting(let right)): left === right
    default: false
    }
  }
}
