import Base
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// An operation that makes one picture from another, such as ``Crop`` and ``Stamp``.
///
/// ``PictureBatch`` calls ``make(from:for:)`` on several threads at the same time.
public protocol PictureMaking: Sendable {
  /// The limits that a picture must not exceed.
  var limits: PictureLimits { get }

  /// Checks the options.
  ///
  /// It is called before any picture is read.
  func check() throws(LarderError)

  /// Makes a picture for an output file.
  ///
  /// This does not create the file `output`: ``PictureBatch`` does that later. Until then, a large result may be in a
  /// temporary file on the same disk, which is deleted with the last reference to the result.
  ///
  /// - Parameters:
  ///   - file: The input.
  ///   - output: The path of the file to which the result will be written.
  /// - Returns: The result.
  /// - Throws: ``LarderError`` when the picture cannot be made, or the disk is full.
  func make(from file: PictureFile, for output: FilePath) throws(LarderError) -> EncodedPicture
}

/// The inputs of a run over several pictures, and the output file of each input.
///
/// They are decided before anything is written. `larder crop` and `larder stamp` run such batches.
///
///     let batch = try PictureBatch(["photos", "cat.png"], into: "squares")
///     let results = try batch.run(Crop(size: 512))
public struct PictureBatch: Sendable, Equatable {
  /// One input, and the path of its output.
  public struct Item: Sendable, Equatable {
    /// The input; `-` for stdin.
    public let input: FilePath
    /// The output; nil if the input cannot be read.
    public var output: FilePath?
    /// Why the input cannot be read; nil if it can be read.
    public var error: LarderError?
    /// The format of the output; nil if the input cannot be read.
    var format: PictureFormat?
    /// The bytes of an input from stdin; nil if the input is a file.
    var bytes: [UInt8]?

    var picture: PictureInput {
      bytes.map { .bytes($0, name: PictureBatch.standardInputName) } ?? .path(input)
    }
  }

  /// The name of the picture from stdin, in errors and in the name of its output.
  static let standardInputName = "stdin"

  /// The inputs in the order in which they were given; the files of a folder are sorted by name.
  public private(set) var items: [Item] = []
  /// The files in the input folders that are skipped because they are not pictures, in the same order as `items`.
  ///
  /// A picture of a kind that larder recognizes but cannot read, such as a PSD, is not among these files. Instead, it
  /// is an item with an error.
  public private(set) var others: [FilePath] = []

  /// Reads the first bytes of each input, and decides the names of the outputs.
  ///
  /// - Parameters:
  ///   - inputs: Pictures and folders. The outputs of an input folder are in the same subfolders of `folder` as the
  ///     inputs are in the input folder.
  ///   - folder: The folder of the outputs.
  ///   - format: The format of the outputs, which decides their file extension. If it is nil, each input keeps its own
  ///     format.
  ///   - name: The template for the names of outputs.
  ///   - standardInput: Reads all of stdin. It is called for the input `-`. The output of this input is named after
  ///     `stdin`. If it is nil, `-` is an ordinary file name.
  /// - Throws: ``LarderError`` of code `usage` when two inputs have the same output, an output is also an input, or
  ///   `folder` is not a folder. Errors of `standardInput` are passed on.
  public init(
    _ inputs: [FilePath],
    into folder: FilePath,
    format: PictureFormat? = nil,
    name: PictureName = .usual,
    standardInput: (() throws(LarderError) -> [UInt8])? = nil
  ) throws(LarderError) {
    let status = Self.status(of: folder)
    if let status, !status.isFolder {
      throw LarderError(
        .usage,
        "cannot write into \(folder.shown): it is not a folder; give a folder, or a name that does not exist yet"
      )
    }
    let naming = Naming(format: format, name: name, ownFolder: status?.identity)
    for input in inputs {
      if input == "-", let standardInput {
        let bytes = try standardInput()
        var item = naming.item("-", bytes, named: Self.standardInputName, in: folder)
        item.bytes = bytes
        items.append(item)
      } else if Self.status(of: input)?.isFolder == true {
        addFolder(input, to: folder, naming)
      } else {
        items.append(naming.item(input, in: folder))
      }
    }
    if let made = items.lazy.compactMap(\.format).first {
      try name.check(count: items.count, format: made)
    }
    try checkOutputs()
  }

  private func checkOutputs() throws(LarderError) {
    var owners: [FilePath: FilePath] = [:]
    let files = items.lazy.filter { $0.bytes == nil }
    let inputs = Set(files.compactMap { Self.status(of: $0.input)?.identity })
    for item in items {
      guard let output = item.output else { continue }
      if let other = owners.updateValue(item.input, forKey: output) {
        let first = Self.status(of: other)?.identity
        let isSame = first != nil && first == Self.status(of: item.input)?.identity
        throw LarderError(
          .usage,
          isSame
            ? "cannot write \(output.shown): \(item.input.shown) was given twice; give it once"
            : "cannot write \(output.shown): both \(other.shown) and \(item.input.shown) would "
              + "become it; rename one"
        )
      }
      if let identity = Self.status(of: output)?.identity, inputs.contains(identity) {
        throw LarderError(
          .usage,
          "cannot write \(output.shown): it is one of the inputs; choose another folder"
        )
      }
    }
  }

  /// The status of a file, or of the file to which a link leads; nil if there is none.
  private static func status(of path: FilePath) -> stat? {
    var status = stat()
    return path.withPlatformString({ stat($0, &status) }) == 0 ? status : nil
  }

  /// Adds the pictures below a folder to `items`, and other files to `others`.
  ///
  /// Hidden files are skipped, and so is the folder into which the outputs are written.
  private mutating func addFolder(_ input: FilePath, to output: FilePath, _ naming: Naming) {
    guard let folder = input.withPlatformString({ opendir($0) }) else {
      items.append(Item(input: input, error: .unread(input.shown, errno)))
      return
    }
    var names: [FilePath.Component] = []
    while let entry = readdir(folder) {
      // The name must not become a String, because a String would replace bytes that are not UTF-8.
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
      // Links to folders are not followed, because such a link can lead back to a parent folder.
      guard path.withPlatformString({ lstat($0, &status) }) == 0 else {
        // A file that was deleted after its folder was read is skipped. Any other error is reported.
        if errno != ENOENT { items.append(Item(input: path, error: .unread(path.shown, errno))) }
        continue
      }
      if status.isFolder {
        guard status.identity != naming.ownFolder else { continue }
        addFolder(path, to: output.appending(name), naming)
        continue
      }
      guard let target = Self.status(of: path) else {
        // A link that leads nowhere, or to itself.
        items.append(Item(input: path, error: .unread(path.shown, errno)))
        continue
      }
      if target.isFile {
        let item = naming.item(path, in: output)
        if item.error?.code == .unsupported { others.append(path) } else { items.append(item) }
      } else if !target.isFolder {
        // For example a pipe, which has no end.
        others.append(path)
      }
    }
  }
}

/// How the outputs of a batch are named.
private struct Naming {
  let format: PictureFormat?
  let name: PictureName
  /// The folder into which the outputs are written; nil if it does not exist yet.
  let ownFolder: [UInt]?

  /// The item for a file, whose output is in `folder`.
  func item(_ input: FilePath, in folder: FilePath) -> PictureBatch.Item {
    do throws(LarderError) {
      let file = try PictureFile.open(input)
      defer { close(file) }
      let head = (try? Files.bytes(of: file, PictureFormat.sniffLength)) ?? []
      return item(input, head, named: input.shown, in: folder)
    } catch {
      return PictureBatch.Item(input: input, error: error)
    }
  }

  /// The item for an input that begins with `head`; `name` is its name in errors.
  func item(
    _ input: FilePath,
    _ head: [UInt8],
    named: String,
    in folder: FilePath
  ) -> PictureBatch.Item {
    guard let found = PictureFormat(sniffing: head) else {
      return PictureBatch.Item(input: input, error: .noPicture(named, head))
    }
    let format = self.format ?? found.kept
    let stem = input == "-" ? Array(named.utf8) : stem(of: input)
    let bytes = name.bytes(stem: stem, ending: format.fileExtension)
    let output = folder.pushing(
      FilePath(platformString: bytes.map { CChar(bitPattern: $0) } + [0])
    )
    return PictureBatch.Item(input: input, output: output, format: format)
  }

  /// The bytes of a file's name without its extension, for example those of `soup` for `soup.png`.
  private func stem(of input: FilePath) -> [UInt8] {
    let name = input.lastComponent?.withPlatformString { name in
      Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }
    guard let name, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else {
      return name ?? Array("picture".utf8)
    }
    return Array(name[..<dot])
  }
}

extension stat {
  fileprivate var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
  fileprivate var isFile: Bool { st_mode & S_IFMT == S_IFREG }
  /// The numbers of the device and the file, which are the same for every path of the file.
  fileprivate var identity: [UInt] { [UInt(st_dev), UInt(st_ino)] }
}

extension PictureBatch {
  /// Makes every picture, on several threads.
  ///
  /// This blocks until all pictures are done. If an input cannot be read, the others are made nevertheless.
  ///
  /// - Parameters:
  ///   - making: The operation on each input.
  ///   - workers: The number of threads. Pass nil to use one for each processor. More threads are not faster.
  ///   - overwrite: Whether the run is allowed to replace existing outputs.
  ///   - skipsExisting: Whether inputs whose output already exists are skipped.
  ///   - report: Called with each result, in the order of the inputs. Calls come one at a time, on any thread.
  ///   - isCancelled: Called before each picture. If it returns true, the run stops, and the remaining inputs get no
  ///     result.
  ///   - deliver: Called with a picture once its file is complete, for example to upload the picture. It is allowed
  ///     to block, and is called for at most eight pictures at the same time.
  /// - Returns: The results, in the order of the inputs.
  /// - Throws: ``LarderError`` when the options of `making` are invalid, or when the folders cannot be synced at the
  ///   end.
  @discardableResult
  public func run(
    _ making: some PictureMaking,
    workers: Int? = nil,
    overwrite: Bool = false,
    skipsExisting: Bool = false,
    report: @escaping @Sendable (PictureResult) -> Void = { _ in },
    isCancelled: @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult = { $1 }
  ) throws(LarderError) -> [PictureResult] {
    try making.check()
    let make: Make = { (input, output) throws(LarderError) in
      try making.make(from: input.file(making.limits), for: output)
    }
    return try run(
      make,
      workers: workers,
      overwrite: overwrite,
      skipsExisting: skipsExisting,
      report: report,
      isCancelled: isCancelled,
      deliver: deliver
    )
  }

  /// Makes a picture for an output file, in this process or in another one.
  package typealias Make =
    @Sendable (PictureInput, _ output: FilePath) throws(LarderError) -> EncodedPicture

  /// Makes every picture by a call of `make`, on several threads; the caller must have checked the options.
  ///
  /// If `skipsExisting` and `isOwed` are true of an existing output, its picture is made once more. If the file holds the
  /// same bytes, it is delivered; nothing is written. The other parameters are the same as in the public function of the
  /// same name.
  @discardableResult
  package func run(
    _ make: Make,
    workers: Int? = nil,
    overwrite: Bool = false,
    skipsExisting: Bool = false,
    report: @escaping @Sendable (PictureResult) -> Void = { _ in },
    isCancelled: @Sendable () -> Bool = { false },
    deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult = { $1 },
    isOwed: @Sendable (FilePath) -> Bool = { _ in false }
  ) throws(LarderError) -> [PictureResult] {
    let next = Atomic(0)
    let ordered = OrderedResults(count: items.count, report: report)
    let writer = OutputWriter(deliver: deliver)
    let threads = min(max(workers ?? processors, 1), max(items.count, 1))
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      while !isCancelled() {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < items.count else { return }
        let item = items[index]
        let known = Self.result(of: item, overwrite: overwrite, skipsExisting: skipsExisting)
        let isKept = known?.isSkipped == true && item.output.map(isOwed) == true
        guard known == nil || isKept, let output = item.output else {
          if let known { ordered.record(known, at: index) }
          continue
        }
        do throws(LarderError) {
          let picture = try make(item.picture, output)
          if isKept, try PictureInput.bytes(of: output, PictureLimits()) != picture.contents() {
            throw LarderError(
              .undelivered,
              "cannot post \(output.shown): it is not the picture that this command makes",
              remedy: .replace
            )
          }
          writer.write(picture, of: item, to: output, overwrite: isKept ? nil : overwrite) {
            ordered.record($0, at: index)
          }
        } catch {
          // If the picture cannot be made any more, its file stays what it is.
          let result = PictureResult(input: item.input.shown, error: error)
          ordered.record(error.code == .undelivered ? result : known ?? result, at: index)
        }
      }
    }
    try writer.close()
    return ordered.results()
  }

  /// Returns the results that a run would have, without making or writing any picture.
  ///
  /// These results have no ``PictureResult/summary``.
  ///
  /// - Parameters:
  ///   - overwrite: Whether the run is allowed to replace existing outputs.
  ///   - skipsExisting: Whether inputs whose output already exists are skipped.
  /// - Returns: A result for each input, in the order of the inputs.
  public func plan(overwrite: Bool = false, skipsExisting: Bool = false) -> [PictureResult] {
    items.map { item in
      Self.result(of: item, overwrite: overwrite, skipsExisting: skipsExisting)
        ?? PictureResult(input: item.input.shown, output: item.output?.shown)
    }
  }

  /// The result of an item whose picture is not made: the error or the skipped output; nil if it is to be made.
  private static func result(
    of item: Item,
    overwrite: Bool,
    skipsExisting: Bool
  ) -> PictureResult? {
    let input = item.input.shown
    guard let output = item.output else { return PictureResult(input: input, error: item.error) }
    guard !overwrite, WholeFile.isThere(output) else { return nil }
    // An output is written as a whole, so that an empty file or a folder of its name is none.
    if skipsExisting, let status = status(of: output), status.isFile, status.st_size > 0 {
      return PictureResult(input: input, output: output.shown, isSkipped: true)
    }
    return PictureResult(input: input, error: WholeFile.refusal(output, EEXIST))
  }
}

/// Writes finished pictures while other pictures are being made, because waiting for the disk takes no processor time.
private final class OutputWriter: Sendable {
  private let deliver: @Sendable (EncodedPicture, PictureResult) -> PictureResult
  private let queue = DispatchQueue(label: "larder.pictures.write", attributes: .concurrent)
  private let written = DispatchGroup()
  /// Limits how many pictures wait in memory for the disk.
  private let slots = DispatchSemaphore(value: 8)
  /// The folders to which this run has begun to write; true if there is a new file, so that the folder must be synced.
  private let folders = Mutex<[FilePath: Bool]>([:])

  init(deliver: @escaping @Sendable (EncodedPicture, PictureResult) -> PictureResult) {
    self.deliver = deliver
  }

  /// Queues a picture for writing; `report` is called with its result.
  ///
  /// If `overwrite` is nil, the file is there already. This blocks while eight pictures wait for the disk.
  func write(
    _ picture: EncodedPicture,
    of item: PictureBatch.Item,
    to output: FilePath,
    overwrite: Bool?,
    then report: @escaping @Sendable (PictureResult) -> Void
  ) {
    slots.wait()
    queue.async(group: written) { [self] in
      defer { slots.signal() }
      let (input, folder) = (item.input.shown, output.removingLastComponent())
      do throws(LarderError) {
        if let overwrite {
          // The files that killed runs left in a folder are removed before this run writes its first file there.
          let known = folders.withLock { $0.updateValue($0[folder] ?? false, forKey: folder) }
          if known == nil { WholeFile.sweep(folder) }
          try picture.file.write(to: output, overwrite: overwrite)
          folders.withLock { $0[folder] = true }
        }
        let result = PictureResult(input: input, output: output.shown, summary: picture.summary)
        report(deliver(picture, result))
      } catch {
        report(PictureResult(input: input, error: error))
      }
    }
  }

  /// Waits until all files are written, and then syncs their folders.
  func close() throws(LarderError) {
    written.wait()
    for (folder, isNew) in folders.withLock({ $0 }) where isNew { try WholeFile.sync(folder) }
  }
}

/// Collects results, and reports them in the order of the inputs.
private final class OrderedResults: Sendable {
  private struct Delivered {
    var results: [PictureResult?]
    var reported = 0
  }

  /// The lock is never held while `report` runs.
  private let state: Mutex<Delivered>
  private let order = DispatchQueue(label: "larder.pictures.report")
  private let report: @Sendable (PictureResult) -> Void

  init(count: Int, report: @escaping @Sendable (PictureResult) -> Void) {
    state = Mutex(Delivered(results: Array(repeating: nil, count: count)))
    self.report = report
  }

  func record(_ result: PictureResult, at index: Int) {
    state.withLock { $0.results[index] = result }
    order.sync {
      let ready = state.withLock { state in
        let ready = state.results[state.reported...].prefix { $0 != nil }.compactMap(\.self)
        state.reported += ready.count
        return ready
      }
      for result in ready { report(result) }
    }
  }

  func results() -> [PictureResult] {
    state.withLock { $0.results.compactMap(\.self) }
  }
}

/// The number of processors online.
private var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }

extension FilePath {
  /// The path as text for messages and JSON; a byte that is not UTF-8 becomes an escape such as `\xE9`.
  ///
  /// Do not pass it to system calls, because they need the path's own bytes.
  package var shown: String {
    let bytes = withPlatformString { path in
      Array(UnsafeRawBufferPointer(start: path, count: length))
    }
    return String(bytes) { "\\x\(String($0, radix: 16, uppercase: true))" }
  }
}
