import Catalog
import CurlTransport
import Dispatch
import Pipeline
import Synchronization
import Transport
import Web

/// A line on stderr for each request that was answered, or for failures of the server alone.
///
/// Written on a queue of its own, so that nobody who reads stderr slowly holds the server up; lines that find thousands
/// of others waiting are left out and counted.
final class AccessLog: Sendable {
  private let format: LogFormat
  private let isWhole: Bool
  /// The failure that was told last: told anew once another one came between.
  private let told = Mutex<String?>(nil)
  private let queue = DispatchQueue(label: "larder.access")
  private let waiting = Atomic<Int>(0)
  private let lost = Atomic<Int>(0)

  private static let most = 10_000

  /// A log.
  ///
  /// - Parameters:
  ///   - format: How lines are written.
  ///   - isWhole: Whether every request has its line; else failures of the server have one, each once in a row.
  init(_ format: LogFormat, isWhole: Bool) {
    (self.format, self.isWhole) = (format, isWhole)
  }

  /// Writes a line, soon.
  func note(_ record: RequestRecord) {
    guard isWhole || isNews(record) else { return }
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.most else {
      waiting.subtract(1, ordering: .relaxed)
      lost.add(1, ordering: .relaxed)
      return
    }
    let time = UnixTime.now()
    queue.async { [self] in
      waiting.subtract(1, ordering: .relaxed)
      let missed = lost.exchange(0, ordering: .relaxed)
      if missed > 0 { Log(format).warning("\(missed) requests were not logged") }
      Output.note(line(record, time))
    }
  }

  /// Whether a request failed by a fault of the server that was not told last.
  private func isNews(_ record: RequestRecord) -> Bool {
    guard record.status >= 500, let cause = record.cause else { return false }
    return told.withLock { told in
      defer { told = cause }
      return told != cause
    }
  }

  private func line(_ record: RequestRecord, _ time: UnixTime) -> String {
    switch format {
    case .text:
      let milliseconds = (record.seconds * 10_000).rounded() / 10
      return PlainText.row(
        "\(time.rfc3339) \(record.client) \(record.method) \(record.target) \(record.status) "
          + "\(record.bytes) B \(milliseconds) ms" + (record.cause.map { ": \($0)" } ?? "")
      )
    case .json:
      return TerminalJSON.text((try? Line(record, time).jsonLine()) ?? [])
    }
  }

  private struct Line: Encodable {
    let time: String
    var level = "info"
    let client: String
    let method: String
    let target: String
    let status: Int
    let bytes: Int
    let seconds: Double
    let cause: String?

    init(_ record: RequestRecord, _ time: UnixTime) {
      self.time = time.rfc3339
      level = record.cause == nil ? "info" : "error"
      cause = record.cause
      (client, method, target) = (record.client, record.method, record.target)
      (status, bytes, seconds) = (record.status, record.bytes, record.seconds)
    }
  }
}
