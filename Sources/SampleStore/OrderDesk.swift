import Dispatch
import Glibc
import Synchronization

/// Where the store takes orders, and where it keeps them.
package struct OrderIntake: Hashable, Sendable {
  /// The paths that take `POST`.
  package var paths: Set<String>
  /// A file that gets a JSON line an order, synced before the answer; nil for memory alone.
  package var file: String?

  /// Takes orders at some paths, and keeps them in a file if one is named.
  package init(paths: Set<String> = ["/orders"], file: String? = nil) {
    self.paths = paths
    self.file = file
  }
}

/// The orders so far, in memory and, when asked, in a file.
///
/// They are written one after the other, so that the lines stand in the order of the records; who reads them does
/// not wait for the disk.
final class OrderDesk: Sendable {
  let paths: Set<String>
  private let file: Int32?
  private let state = Mutex<[OrderRecord]>([])
  private let writing = DispatchQueue(label: "larder.store.orders")

  init(_ intake: OrderIntake) throws(StoreError) {
    paths = intake.paths
    guard let name = intake.file else {
      file = nil
      return
    }
    let opened = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard opened >= 0 else {
      throw StoreError(
        .orders,
        "keep orders in \(name)",
        StoreError.words(for: errno),
        "name a file in a folder that can be written"
      )
    }
    file = opened
  }

  deinit {
    if let file { close(file) }
  }

  var records: [OrderRecord] {
    state.withLock { $0 }
  }

  func clear() {
    state.withLock { $0 = [] }
  }

  /// Keeps an order in the file, then in memory; false, and kept in neither, when the file cannot be written.
  func take(_ record: OrderRecord) -> Bool {
    writing.sync {
      if let file, !Self.append(Array(record.line.utf8), to: file) { return false }
      state.withLock { $0.append(record) }
      return true
    }
  }

  private static func append(_ bytes: [UInt8], to file: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return fsync(file) == 0
  }
}
