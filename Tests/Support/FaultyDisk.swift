import Base
import Cache
import Glibc
import Synchronization

/// The system's disk with one fault: an operation fails, or all operations stop at it, as in a
/// crash.
///
/// Operations are numbered from 1 in the order of their calls. A failed operation changes nothing.
package final class FaultyDisk: Disk {
  /// The fault of the disk.
  package enum Fault: Sendable, Hashable {
    /// No fault.
    case none
    /// One operation fails with `errno`; all others work.
    case fail(at: Int, errno: Int32)
    /// No operation is carried out from this one on, so a reopened cache sees the state after a
    /// crash.
    case crash(at: Int)
  }

  private struct State {
    var fault: Fault
    var operations: [String] = []
  }

  private let disk: any Disk
  private let state: Mutex<State>

  /// Wraps a disk with a fault.
  package init(_ fault: Fault = .none, over disk: any Disk = SystemDisk(durable: false)) {
    self.disk = disk
    state = Mutex(State(fault: fault))
  }

  /// Every operation so far, such as `rename a.jpg`, including failed ones.
  package var operations: [String] { state.withLock { $0.operations } }

  private func count(_ verb: String, _ thing: String) throws(LarderError) {
    let code: Int32? = state.withLock { state in
      state.operations.append("\(verb) \(thing)")
      switch state.fault {
      case .fail(let number, let code) where number == state.operations.count: return code
      case .crash(let number) where number <= state.operations.count: return EIO
      default: return nil
      }
    }
    guard let code else { return }
    throw LarderError(
      code == ENOSPC ? .diskFull : .disk,
      "cannot \(verb) \(thing): fault \(code); this is a test"
    )
  }

  package func create(_ name: String, in folder: Folder) throws(LarderError) -> OpenFile {
    try count("create", name)
    return try disk.create(name, in: folder)
  }

  package func reopen(_ name: String, in folder: Folder, keeping size: ByteCount)
    throws(LarderError) -> OpenFile
  {
    try count("reopen", name)
    return try disk.reopen(name, in: folder, keeping: size)
  }

  package func append(_ bytes: RawSpan, to file: OpenFile) throws(LarderError) {
    try count("append", file.path)
    try disk.append(bytes, to: file)
  }

  package func setModified(_ time: UnixTime, of file: OpenFile) throws(LarderError) {
    try count("date", file.path)
    try disk.setModified(time, of: file)
  }

  package func sync(_ file: OpenFile) throws(LarderError) {
    try count("sync", file.path)
    try disk.sync(file)
  }

  package func rename(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError)
  {
    try count("rename", new)
    try disk.rename(name, in: old, to: new, in: folder)
  }

  package func link(_ name: String, in old: Folder, to new: String, in folder: Folder)
    throws(LarderError) -> Bool
  {
    try count("link", new)
    return try disk.link(name, in: old, to: new, in: folder)
  }

  package func remove(_ name: String, in folder: Folder) throws(LarderError) {
    try count("remove", name)
    try disk.remove(name, in: folder)
  }

  package func sync(_ folder: Folder) throws(LarderError) {
    try count("sync", folder.path)
    try disk.sync(folder)
  }
}
