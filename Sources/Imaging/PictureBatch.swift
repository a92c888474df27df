import Glibc
import SystemPackage

/// Makes one picture of another: a crop or a stamp.
///
/// Called on several threads at once.
public protocol PictureMaking: Sendable {
  /// What a picture may ask for.
  var limits: PictureLimits { get }

  /// Judges the wish itself, before any picture is read.
  func check() throws(ImagingError)

  /// Makes a picture, whole, in memory.
  ///
  /// - Parameter file: The input.
  /// - Returns: What was made.
  /// - Throws: ``ImagingError`` when nothing can be made of it.
  func make(from file: PictureFile) throws(ImagingError) -> EncodedPicture

  /// Makes a picture that becomes a file.
  ///
  /// Nothing is at `output` until ``PictureBatch`` puts it there. A large picture may be on the same disk until then, and
  /// is gone when nothing holds the result any more.
  ///
  /// - Parameters:
  ///   - file: The input.
  ///   - output: The file that it becomes.
  /// - Returns: What was made.
  /// - Throws: ``ImagingError`` when nothing can be made of it, or the disk is full.
  func make(from file: PictureFile, for output: FilePath) throws(ImagingError) -> EncodedPicture
}

extension PictureMaking {
  /// Makes a picture in memory, whatever it becomes.
  public func make(
    from file: PictureFile,
    for output: FilePath
  ) throws(ImagingError) -> EncodedPicture {
    try make(from: file)
  }
}

/// Which pictures become which files: a plan, made before anything is written.
///
///     let batch = try PictureBatch(["photos", "cat.png"], into: "squares")
///     let results = try batch.run(Crop(size: 512))
public struct PictureBatch: Sendable, Equatable {
  /// One input, and where what is made of it goes.
  public struct Item: Sendable, Equatable {
    /// The input; `-` for what came on stdin.
    public let input: FilePath
    /// The output; nil for an input that cannot be read.
    public let output: FilePath?
    /// Why the input cannot be read.
    public let error: ImagingError?
    /// All of an input that came on stdin; nil for a file.
    var bytes: [UInt8]?

    /// The picture, where it is.
    var picture: PictureInput {
      bytes.map { .bytes($0, name: PictureBatch.standardInputName) } ?? .path(input)
    }
  }

  /// What errors and names of outputs call the picture that comes on stdin.
  static let standardInputName = "stdin"

  /// The inputs in their order, those of a folder by name.
  public let items: [Item]
  /// The files of folders that are passed over, as they are no pictures, in their order.
  public let others: [FilePath]

  /// Looks at the inputs' first bytes, and no more, and names their outputs.
  ///
  /// - Parameters:
  ///   - inputs: Pictures, and folders whose pictures keep their path below the folder.
  ///   - folder: Where the outputs go.
  ///   - format: The format of the outputs, which their names end as; nil for the inputs' own.
  ///   - name: What the outputs are called.
  ///   - standardInput: Reads all of stdin, for the input that is called `-`, whose stem is `stdin`;
  ///     nil where `-` is a file's name.
  /// - Throws: ``ImagingError`` of code `usage` when two inputs have one output, an output is an
  ///   input, or `folder` is none; and what `standardInput` throws.
  public init(
    _ inputs: [FilePath],
    into folder: FilePath,
    format: PictureFormat? = nil,
    name: PictureName = .usual,
    standardInput: (() throws(ImagingError) -> [UInt8])? = nil
  ) throws(ImagingError) {
    if let kind = Self.kind(of: folder), kind != S_IFDIR {
      throw ImagingError(
        .usage,
        "cannot write into \(folder.shown): it is not a folder; give one, or a name that is free"
      )
    }
    let naming = Naming(format: format, name: name)
    var (items, others): ([Item], [FilePath]) = ([], [])
    for input in inputs {
      if input == "-", let standardInput {
        items.append(Self.item(try standardInput(), to: folder, as: naming))
      } else if Self.kind(of: input) == S_IFDIR {
        Self.add(
          to: &items,
          others: &others,
          below: input,
          to: folder,
          as: naming,
          isSame: Self.identity(of: folder)
        )
      } else {
        items.append(Self.item(input, to: folder, as: naming))
      }
    }
    (self.items, self.others) = (items, others)
    try checkOutputs()
  }

  /// What outputs are, and are called.
  private struct Naming {
    let format: PictureFormat?
    let name: PictureName
  }

  private func checkOutputs() throws(ImagingError) {
    var owners: [FilePath: FilePath] = [:]
    var inputs: Set<Identity> = []
    for item in items where item.bytes == nil {
      if let identity = Self.identity(of: item.input) { inputs.insert(identity) }
    }
    for item in items {
      guard let output = item.output else { continue }
      if let other = owners.updateValue(item.input, forKey: output) {
        let isSame = Self.identity(of: other).map { $0 == Self.identity(of: item.input) } ?? false
        throw ImagingError(
          .usage,
          isSame
            ? "cannot write \(output.shown): \(item.input.shown) is named twice; name it once"
            : "cannot write \(output.shown): both \(other.shown) and \(item.input.shown) would "
              + "become it; rename one"
        )
      }
      if let identity = Self.identity(of: output), inputs.contains(identity) {
        throw ImagingError(
          .usage,
          "cannot write \(output.shown): it is one of the inputs; choose another folder"
        )
      }
    }
  }

  /// What tells two files apart whatever their paths say.
  private struct Identity: Hashable {
    let device: UInt
    let number: UInt
  }

  private static func identity(of path: FilePath) -> Identity? {
    var status = stat()
    guard path.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
    return Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
  }

  private static func kind(of path: FilePath) -> mode_t? {
    var status = stat()
    return path.withPlatformString({ stat($0, &status) }) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// Adds the pictures below a folder, and to `others` what is none; what is hidden or the outputs' own
  /// is passed over.
  private static func add(
    to items: inout [Item],
    others: inout [FilePath],
    below input: FilePath,
    to output: FilePath,
    as naming: Naming,
    isSame own: Identity?
  ) {
    guard let folder = input.withPlatformString({ opendir($0) }) else {
      items.append(Item(input: input, output: nil, error: .unread(input.shown, errno)))
      return
    }
    var names: [FilePath.Component] = []
    while let entry = readdir(folder) {
      // Not by way of a String, which would replace bytes that are no UTF-8.
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        FilePath.Component(
          platformString: bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
        )
      }
      if let name, !name.string.hasPrefix(".") { names.append(name) }
    }
    closedir(folder)
    for name in names.sorted(by: { $0.string < $1.string }) {
      let path = input.appending(name)
      var status = stat()
      // A link to a folder may lead back up.
      guard path.withPlatformString({ lstat($0, &status) }) == 0 else {
        // Gone since the folder was read; whatever else hides it is told.
        if errno != ENOENT {
          items.append(Item(input: path, output: nil, error: .unread(path.shown, errno)))
        }
        continue
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        if let own, identity(of: path) == own { continue }
        let below = output.appending(name)
        add(to: &items, others: &others, below: path, to: below, as: naming, isSame: own)
      } else if kind(of: path) == S_IFREG {
        let item = item(path, to: output, as: naming)
        if item.output != nil || item.error?.code != .unsupported {
          items.append(item)
        } else {
          others.append(path)
        }
      }
    }
  }

  private static func item(
    _ input: FilePath,
    to folder: FilePath,
    as naming: Naming
  ) -> Item {
    func refused(_ error: ImagingError) -> Item { Item(input: input, output: nil, error: error) }
    let file = input.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard file >= 0 else { return refused(.unread(input.shown, errno)) }
    defer { close(file) }
    var head = [UInt8](repeating: 0, count: PictureFormat.sniffLength)
    let count = read(file, &head, head.count)
    guard let found = PictureFormat(sniffing: head.prefix(max(count, 0))) else {
      return refused(.noPicture(input.shown))
    }
    let output = output(of: stem(of: input), found, in: folder, as: naming)
    return Item(input: input, output: output, error: nil)
  }

  /// The item of what came on stdin.
  private static func item(_ bytes: [UInt8], to folder: FilePath, as naming: Naming) -> Item {
    guard let found = PictureFormat(sniffing: bytes) else {
      return Item(input: "-", output: nil, error: .noPicture(standardInputName), bytes: bytes)
    }
    let output = output(of: Array(standardInputName.utf8), found, in: folder, as: naming)
    return Item(input: "-", output: output, error: nil, bytes: bytes)
  }

  /// A file's name without its ending, byte for byte.
  private static func stem(of input: FilePath) -> [UInt8] {
    let name = input.lastComponent?.withPlatformString { name in
      Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }
    guard let name, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else {
      return name ?? Array("picture".utf8)
    }
    return Array(name[..<dot])
  }

  private static func output(
    of stem: [UInt8],
    _ found: PictureFormat,
    in folder: FilePath,
    as naming: Naming
  ) -> FilePath? {
    let ending = (naming.format ?? found.kept).fileExtension
    let name = naming.name.bytes(stem: stem, ending: ending).map { CChar(bitPattern: $0) }
    return FilePath.Component(platformString: name + [0]).map { folder.appending($0) }
  }
}
