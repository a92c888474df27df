import Foundation
import Synchronization

/// The sample store that `script/package` puts into the binary: a tar archive, in an ELF section of its own.
///
/// So `demo` works from the binary alone. A build from source has the store in the checkout instead.
enum EmbeddedSamples {
  private static let section = ".larder.samples"

  /// The folder that was made, to be removed at the end; guarded by itself.
  private static let folder = Mutex<String?>(nil)

  /// Unpacks the store into a new temporary folder.
  ///
  /// - Returns: The folder; nil when the binary has no store within it.
  /// - Throws: ``CommandFailure`` when the folder cannot be written.
  static func unpacked() throws -> String? {
    guard
      let binary = try? Data(contentsOf: URL(filePath: "/proc/self/exe"), options: .alwaysMapped),
      let archive = ELFSections(binary)?.content(of: section)
    else { return nil }
    let root = FileManager.default.temporaryDirectory
      .appending(path: "larder-samples-\(UUID().uuidString)")
    folder.withLock { $0 = root.path }
    do {
      for entry in TarEntries(archive) {
        let place = root.appending(path: entry.name)
        try FileManager.default.createDirectory(
          at: place.deletingLastPathComponent(),
          withIntermediateDirectories: true
        )
        try entry.content.write(to: place)
      }
    } catch {
      remove()
      throw CommandFailure(
        "cannot unpack the sample store into \(root.path): \(error); set TMPDIR",
        .io
      )
    }
    return root.path
  }

  /// Removes what ``unpacked()`` made, if anything.
  static func remove() {
    folder.withLock { folder in
      if let path = folder { try? FileManager.default.removeItem(atPath: path) }
      folder = nil
    }
  }
}

/// The sections of a 64-bit little-endian ELF file. (System V ABI, chapter 4)
struct ELFSections {
  private let file: Data
  private let headers: [(name: Int, start: Int, count: Int)]
  private let names: Int

  /// Reads the table; nil when the file is no such ELF file.
  init?(_ file: Data) {
    self.file = file
    guard file.prefix(6) == Data([0x7F, 0x45, 0x4C, 0x46, 2, 1]),
      let table = Self.number(file, at: 0x28, 8), let size = Self.number(file, at: 0x3A, 2),
      let count = Self.number(file, at: 0x3C, 2), let own = Self.number(file, at: 0x3E, 2)
    else { return nil }
    var headers: [(name: Int, start: Int, count: Int)] = []
    for index in 0..<count {
      let place = table + index * size
      guard let name = Self.number(file, at: place, 4),
        let start = Self.number(file, at: place + 0x18, 8),
        let length = Self.number(file, at: place + 0x20, 8)
      else { return nil }
      headers.append((name, start, length))
    }
    guard headers.indices.contains(own) else { return nil }
    self.headers = headers
    names = headers[own].start
  }

  /// The bytes of a section; nil when there is none of that name.
  func content(of name: String) -> Data? {
    let wanted = Data(name.utf8) + [0]
    for header in headers {
      let place = names + header.name
      guard place + wanted.count <= file.count, header.start + header.count <= file.count,
        file[place..<place + wanted.count] == wanted
      else { continue }
      return file[header.start..<header.start + header.count]
    }
    return nil
  }

  private static func number(_ file: Data, at place: Int, _ size: Int) -> Int? {
    guard place >= 0, place + size <= file.count else { return nil }
    let value = file[place..<place + size].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value).flatMap { $0 < 1 << 48 ? $0 : nil }
  }
}

/// The files of a tar archive. (POSIX.1, pax, ustar)
struct TarEntries: Sequence, IteratorProtocol {
  private var rest: Data

  init(_ archive: Data) {
    rest = archive
  }

  /// The next file with its path; nil at the end, and at what is no archive.
  mutating func next() -> (name: String, content: Data)? {
    while rest.count >= 512 {
      let head = [UInt8](rest.prefix(512))
      let octal = head[124..<136].prefix { (0x30...0x37).contains($0) }
      guard let count = Int(String(decoding: octal, as: UTF8.self), radix: 8),
        512 + count <= rest.count
      else { return nil }
      let content = rest.dropFirst(512).prefix(count)
      rest = rest.dropFirst(512 + (count + 511) / 512 * 512)
      let (prefix, name) = (Self.text(head[345..<500]), Self.text(head[0..<100]))
      let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
      // What leads out of the folder is none of the store's.
      guard head[156] == 0x30 || head[156] == 0, !path.split(separator: "/").contains("..") else {
        continue
      }
      return (path, content)
    }
    return nil
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }
}
