import Base
import Cache
import Dispatch
import Support
import Synchronization
import Transport

@testable import Cache

/// An open cache in a test folder, with an active run.
///
/// A test opens the same folder again to act as a process that was restarted.
final class CacheOnDisk {
  let folder: TemporaryFolder
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let run: RunID
  /// The result of the recovery when the cache was opened: the numbers of rows that were marked as empty and of files
  /// that were adopted, and the strays, which are files without a row.
  let recovery: Recovery

  init(
    _ folder: TemporaryFolder,
    disk: any Disk = SystemDisk(durable: false),
    patience: DispatchTimeInterval = .milliseconds(125),
    queues: Int = 1
  ) throws(LarderError) {
    self.folder = folder
    layout = try CacheLayout(creating: folder.path("cache"))
    index = try Index(layout)
    recovery = try Recovery(layout, index)
    let catalog = try index.catalog(named: "shop", currency: "KRW")
    run = try index.beginRun(catalog: catalog.id, at: 1)
    store = PictureStore(
      layout,
      index: index,
      disk: disk,
      run: run,
      partials: recovery.partials,
      patience: patience,
      queues: queues
    )
  }

  /// The row of the picture at a URL.
  func entry(_ url: String) throws -> PictureEntry? {
    let id = PictureID(url: url)
    return try index.pictures([id])[id]
  }

  /// Sends pictures to the store in pieces, as a transfer would, and waits until they are committed.
  ///
  /// - Returns: The outcome of each picture, in order.
  @discardableResult
  func keep(_ pictures: [(url: String, bytes: [UInt8])], pieces: Int = 100_000) throws
    -> [PictureOutcome?]
  {
    let outcomes = Mutex([PictureOutcome?](repeating: nil, count: pictures.count))
    let group = DispatchGroup()
    for (number, picture) in pictures.enumerated() {
      let sink = store.sink(id: PictureID(url: picture.url), url: picture.url)
      if let refusal = Self.send(picture.bytes, into: sink, pieces: pieces) {
        outcomes.withLock { $0[number] = .refused(refusal, detail: "while it came") }
        continue
      }
      group.enter()
      store.commit(
        sink,
        as: {
          var entry = PictureEntry(id: PictureID(url: picture.url), url: picture.url)
          entry.lastModified = 1_500_000_000
          return entry
        },
        replacing: try entry(picture.url)
      ) { outcome in
        outcomes.withLock { $0[number] = outcome }
        group.leave()
      }
    }
    flush()
    group.wait()
    return outcomes.withLock { $0 }
  }

  /// Waits until all earlier pictures are committed.
  func flush() { store.flush() }

  /// Sends one body.
  ///
  /// - Returns: The reason if the sink refuses the body; otherwise nil.
  static func send(_ bytes: [UInt8], into sink: PictureSink, pieces: Int = 100_000)
    -> FailureReason?
  {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      if case .refuse(let reason) = sink.receive(piece.span.bytes) { return reason }
      rest = rest.dropFirst(pieces)
    }
    return nil
  }

  /// Ends the run normally, so that the next one skips recovery.
  func end() throws(LarderError) {
    try index.endRun(run, at: 2, outcome: "complete", report: [], sections: [])
    try index.noteFolderTimes(of: layout)
  }

  /// Checks every byte.
  func verify() throws(LarderError) -> VerifyReport {
    try Verification(layout, index).run(.full)
  }
}

/// A minimal picture: a JPEG start marker, a label and padding.
func jpeg(_ label: String, count: Int = 64) -> [UInt8] {
  let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array(label.utf8)
  return head + [UInt8](repeating: 0x20, count: max(0, count - head.count))
}

/// The test URL for a picture name.
func url(_ name: String) -> String { "https://cdn.example/\(name).jpg" }

/// The file path of the picture with this name, relative to the test folder.
func path(_ name: String) -> String {
  "cache/" + PictureName(url: url(name), id: PictureID(url: url(name))).path
}
