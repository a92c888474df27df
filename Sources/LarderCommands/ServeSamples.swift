import Dispatch
import Pipeline
import SampleStore

/// Serves the sample store until a signal comes.
struct ServeSamples {
  let folder: String
  let port: Int
  let faults: String?
  let journal: String?
  let servesAnyPicture: Bool
  let certificate: String?
  let key: String?
  let isJSON: Bool

  func run() throws {
    let content = try StoreContent(folder: "\(folder)/store")
    if servesAnyPicture { content.fallback = try Self.pictures(folder) }
    var identity: TLSIdentity?
    if let certificate, let key {
      identity = try TLSIdentity(certificateFile: certificate, keyFile: key)
    }
    let store = try SampleStore.start(
      content,
      faults: try FaultFile.read(faults),
      tls: identity,
      port: port,
      orders: OrderIntake(file: journal)
    )
    defer { store.stop() }
    let ended = DispatchSemaphore(value: 0)
    let signals = Signals { _ in ended.signal() }
    let url = "\(store.baseURL)/develop/baminchan/"
    if isJSON { Output.json(try ["url": url].jsonLine()) } else { Output.data(url) }
    ended.wait()
    withExtendedLifetime(signals) {}
  }

  /// Makes a picture for any path that ends as a JPEG's or PNG's does, each with bytes of its own.
  private static func pictures(_ folder: String) throws -> StoreContent.Fallback {
    func base(_ name: String) throws -> Picture {
      let bytes = try FileReading.bytes("\(folder)/\(name)", what: "picture", limit: 1 << 20)
      return try Picture(bytes)
    }
    let jpeg = try base("store/pictures/shared/parcel.jpg")
    let png = try base("store/pictures/soup/tteokguk.png")
    return { path in
      let name = path.lowercased()
      if name.hasSuffix(".png") { return png.resource(path) }
      let suffixes = [".jpg", ".jpeg", ".webp", ".gif", ".avif"]
      return suffixes.contains { name.hasSuffix($0) } ? jpeg.resource(path) : nil
    }
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
