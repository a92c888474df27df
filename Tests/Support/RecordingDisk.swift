import Base
import Cache
import Synchronization

/// The system's disk with a record of every operation, so that a power cut can be simulated from
/// it.
package final class RecordingDisk: Disk {
  /// An operation, with paths as the caller gave them.
  package enum Operation: Sendable, Equatable {
    case create(String)
    case append(String, [UInt8])
    case syncFile(String)
    case rename(String, String)
    case link(String, String)
    case remove(String)
    case syncFolder(String)
  }

  private let disk = SystemDisk(durable: false)
  private let noted = Mutex<[(operation: Operation, moment: [UInt8])]>([])
  private let snapshot = Mutex<(@Sendable () -> [UInt8])?>(nil)

  /// Creates a disk with an empty record.
  package init() {}

  /// Every operation so far, each with the snapshot taken just before it.
  package var operations: [(operation: Operation, moment: [UInt8])] { noted.withLock { $0 } }

  /// Sets the closure that takes a snapshot of other durable data, such as the index file as
  /// committed.
  package func take(_ snapshot: @escaping @Sendable () -> [UInt8]) {
    self.snapshot.withLock { $0 = snapshot }
  }

  private func note(_ operation: Operation) {
    let moment = snapshot.withLock { $0 }?() ?? []
    noted.withLock { $0.append((operation, moment)) }
  }

  package func create(_ name: String, in folder: Folder) throws(LarderError) -> OpenFile {
    note(.create("\(folder.path)/\(name)"))
    return try disk.create(name, in: folder)
  }

  package func reopen(_ name: String, in folder: Folder, keeping size: ByteCount)
    throws(LarderError) -> OpenFile
  {
    try disk.reopen(name, in: folder, keeping: size)
  }

  package func append(_ bytes: RawSpan, to file: OpenFile) throws(LarderError) {
    note(.append(file.path, bytes.withUnsafeBytes { Array($0) }))
    try disk.append(bytes, to: file)
  }

  package func setModified(_ time: UnixTime, of file: OpenFile) throws(LarderError) {
    try disk.setModified(time, of: file)
  }

  package func sync(_ file: OpenFile) throws(LarderError) {
    note(.syncFile(file.path))
    try disk.sync(file)
  }

  package func rename(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError)
  {
    note(.rename("\(old.path)/\(name)", "\(folder.path)/\(new)"))
    try disk.rename(name, in: old, to: new, in: folder)
  }

  package func link(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError) -> Bool
  {
    note(.link("\(old.path)/\(name)", "\(folder.path)/\(new)"))
    return try disk.link(name, in: old, to: new, in: folder)
  }

  package func remove(_ name: String, in folder: Folder) throws(LarderError) {
    note(.remove("\(folder.path)/\(name)"))
    try disk.remove(name, in: folder)
  }

  package func sync(_ folder: Folder) throws(LarderError) {
    note(.syncFolder(folder.path))
    try disk.sync(folder)
  }
}

/// The files after a power cut: all synced data, and a random part of the rest.
package struct PowerCut {
  private struct File {
    var bytes: [UInt8] = []
    var synced = 0
  }

  private var files: [File] = []
  private var names: [String: Int] = [:]
  private var durable: [String: Int] = [:]
  private var pending: [(folder: String, name: String, file: Int?)] = []

  /// Starts with complete and synced files.
  package init(_ held: [String: [UInt8]]) {
    for (name, bytes) in held {
      names[name] = files.count
      durable[name] = files.count
      files.append(File(bytes: bytes, synced: bytes.count))
    }
  }

  /// Applies an operation.
  package mutating func play(_ operation: RecordingDisk.Operation) {
    switch operation {
    case .create(let name):
      files.append(File())
      enter(name, files.count - 1)
    case .append(let name, let bytes):
      if let file = names[name] { files[file].bytes += bytes }
    case .syncFile(let name):
      if let file = names[name] { files[file].synced = files[file].bytes.count }
    case .rename(let old, let new):
      enter(new, names[old])
      enter(old, nil)
    case .link(let old, let new):
      enter(new, names[old])
    case .remove(let name):
      enter(name, nil)
    case .syncFolder(let folder):
      for change in pending where change.folder == folder { durable[change.name] = change.file }
      pending.removeAll { $0.folder == folder }
    }
  }

  private mutating func enter(_ name: String, _ file: Int?) {
    names[name] = file
    let folder = String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])
    pending.append((folder, name, file))
  }

  /// The files after the cut.
  ///
  /// Each name that was not synced is present or absent at random. Bytes that were not synced are
  /// present, truncated, missing or zero.
  package func files(left random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var left = durable
    for change in pending where Bool.random(using: &random) { left[change.name] = change.file }
    return left.mapValues { number in
      let file = files[number]
      let rest = file.bytes.dropFirst(file.synced)
      guard !rest.isEmpty else { return file.bytes }
      let head = file.bytes.prefix(file.synced)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return Array(head)
      case 1: return Array(head + rest.prefix(rest.count / 2))
      case 2: return Array(head) + [UInt8](repeating: 0, count: rest.count)
      default: return file.bytes
      }
    }
  }
}

/// A seeded random generator. (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014)
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// A generator with this seed.
  package init(_ seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
