import Dispatch
import SampleStore

/// Serves the sample store until a signal comes.
struct ServeSamples {
  let folder: String
  let port: Int
  let faults: String?

  func run() throws {
    let store = try SampleStore.start(
      StoreContent(folder: "\(folder)/store"),
      faults: try FaultFile.read(faults),
      port: port
    )
    defer { store.stop() }
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals { _ in ended.signal() }
    Output.data("\(store.baseURL)/develop/baminchan/")
    ended.wait()
    withExtendedLifetime(signals) {}
  }
}

/// A file of faults on the command line.
enum FaultFile {
  /// The script in the file, or none without a file.
  static func read(_ path: String?) throws -> FaultScript {
    guard let path else { return .none }
    let bytes = try FileReading.bytes(path, what: "fault script", limit: 1 << 20)
    return try FaultScript(text: String(decoding: bytes, as: UTF8.self))
  }
}
