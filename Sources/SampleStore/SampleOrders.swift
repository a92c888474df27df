import Base
import Glibc
import Synchronization

/// The orders that the store has received, in memory and optionally in a file.
///
/// One lock guards both, so that the orders have the same order in the file as in memory.
final class SampleOrders: Sendable {
  private let file: Int32?
  private let state = Mutex<[RequestRecord]>([])

  /// Opens the file; if `journal` is nil, the orders are only in memory.
  init(journal: String?) throws(LarderError) {
    guard let name = journal else {
      file = nil
      return
    }
    let opened = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard opened >= 0 else {
      throw LarderError(
        cannot: "keep orders in \(name)",
        systemMessage(errno),
        "name a file in a folder that can be written"
      )
    }
    file = opened
  }

  deinit {
    if let file { close(file) }
  }

  var records: [RequestRecord] {
    state.withLock { $0 }
  }

  /// Appends an order to the file and then to the orders in memory.
  ///
  /// If the file cannot be written, it returns false and keeps the order in neither.
  func take(_ record: RequestRecord) -> Bool {
    state.withLock { records in
      if let file, !Self.append(record.line, to: file) { return false }
      records.append(record)
      return true
    }
  }

  private static func append(_ bytes: [UInt8], to file: Int32) -> Bool {
    (try? Files.write(bytes.span.bytes, to: file)) != nil && fsync(file) == 0
  }
}

extension RequestRecord {
  /// The order as a line of JSON, with its body as text.
  var line: [UInt8] {
    let line = JSONMembers([
      "time": UnixTime(Int64(arrival)).rfc3339, "method": method, "path": path,
      "status": status, "headers": headers.map { [$0.name, $0.value] },
      "body": String(decoding: body, as: UTF8.self),
    ])
    return ((try? line.jsonLine()) ?? []) + [UInt8(ascii: "\n")]
  }
}
