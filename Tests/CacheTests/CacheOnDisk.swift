import Base
import Cache
import Dispatch
import Support
import Synchronization
import Transport

@testable import Cache

/// An open cache in a folder, with a run under way; opening the folder again is a restart.
final class CacheOnDisk {
  let folder: TemporaryFolder
  let layout: CacheLayout
  let index: Index
  let store: PictureStore
  let run: RunID
  /// What bringing index and files together found.
  let recovery: Recovery

  init(
    _ folder: TemporaryFolder,
    disk: any Disk = SystemDisk(durable: false),
    patience: DispatchTimeInterval = .milliseconds(125),
    lanes: Int = 1
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
      states: PictureStates(index),
      partials: recovery.partials,
      patience: patience,
      lanes: lanes
    )
  }

  /// What is known of the picture at a URL.
  func entry(_ url: String) throws -> PictureEntry? {
    let id = PictureID(url: url)
    return try index.pictures([id])[id]
  }

  /// Sends bodies into the store as a transfer would, in pieces, and waits for their group.
  ///
  /// - Returns: The outcomes, in order.
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

  /// Waits until what was kept so far is committed.
  func flush() {
    let flushed = DispatchSemaphore(value: 0)
    store.flush { flushed.signal() }
    flushed.wait()
  }

  /// Sends one body; the reason when the sink refuses it.
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

  /// Ends the run in peace, so that the next need not look into the folders.
  func end() throws(LarderError) {
    try index.endRun(run, at: 2, outcome: "complete", report: [], sections: [])
    try index.noteFolderTimes(of: layout)
  }

  /// What a check of every byte finds.
  func verify() throws(LarderError) -> VerifyReport {
    try Verification(layout, index).run(.full)
  }
}

/// The bytes of a picture of one's own: a JPEG's first marker, a label, and filling.
func jpeg(_ label: String, count: Int = 64) -> [UInt8] {
  let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array(label.utf8)
  return head + [UInt8](repeating: 0x20, count: max(0, count - head.count))
}

/// The URL of a picture of this name.
func url(_ name: String) -> String { "https://cdn.example/\(name).jpg" }

/// The path of the file that the picture of this name has in its folder.
func path(_ name: String) -> String {
  "cache/" + PictureName(url: url(name), id: PictureID(url: url(name))).path
}
