import Cache
import Transport

/// Where the pictures of a run come from.
package enum PictureSource: Sendable {
  /// Their origins.
  case origins
  /// Nowhere: those that would be asked for are named, and nothing is fetched.
  case named(@Sendable (PictureID, WebURL) -> Void)
  /// Other runs, which placed their files in the cache.
  case settled(any SettledPictures)
}

/// What other runs made of a run's pictures.
package protocol SettledPictures: Sendable {
  /// Which of these pictures one of them had to bring.
  ///
  /// - Throws: ``CacheError`` when it cannot be read.
  func members(_ ids: [PictureID]) throws(CacheError) -> Set<PictureID>

  /// Whether one of them had a picture to bring whose file has this path in a cache, as far as a path tells.
  ///
  /// - Throws: ``CacheError`` when it cannot be read.
  func mayHave(_ path: String) throws(CacheError) -> Bool

  /// What they made of pictures; those that none had to bring are left out.
  ///
  /// - Throws: ``CacheError`` when it cannot be read.
  func pictures(_ ids: [PictureID]) throws(CacheError) -> [PictureID: SettledPicture]
}

/// What takes the place of a run's origins: nothing, in a plain sync.
package struct RunParts: Sendable {
  /// A way to fetch documents.
  package typealias Origin = any Fetching

  /// Takes the run's secrets out of a text.
  package typealias Hiding = @Sendable (String) -> String

  /// What the run fetches documents by, made of what it would fetch them by.
  package var origin: @Sendable (Origin, @escaping Hiding) -> Origin = { origin, _ in origin }
  /// Where its pictures come from.
  package var pictures = PictureSource.origins
  /// What is known of the pictures' freshness; nil for what the cache's index says.
  package var states: KnownPictures?
  /// What other runs brought; nil when none did.
  var settled: (any SettledPictures)? {
    if case .settled(let pictures) = pictures { pictures } else { nil }
  }
  /// The requests that other runs made for this one.
  package var requests = 0

  /// A plain sync's.
  package init() {}
}

/// What another run made of a picture.
package struct SettledPicture: Sendable, Equatable {
  /// Its row.
  package var entry: PictureEntry
  /// How its request ended.
  package var end: PictureEnd
  /// The SHA-256 of the bytes held before, when those are others.
  package var before: [UInt8]?
  /// Why it failed.
  package var failure: SyncReport.Failure?

  /// Makes one from its parts.
  package init(
    entry: PictureEntry,
    end: PictureEnd,
    before: [UInt8]? = nil,
    failure: SyncReport.Failure? = nil
  ) {
    self.entry = entry
    self.end = end
    self.before = before
    self.failure = failure
  }
}

extension FailureReason {
  /// Another picture has its key.
  package static let identityClash = FailureReason(rawValue: "identity-clash")
  /// The plan that a run commits does not have it.
  package static let notPlanned = FailureReason(rawValue: "not-planned")
}

extension PictureStage {
  /// How many pictures are entered in one transaction: so many that each page of the index is written for several of
  /// them, when there are millions.
  static let settledAtOnce = 1 << 19
  /// How many of them memory holds.
  private static let settledBatch = 1024

  /// Enters what other runs made of pictures, in one transaction; every one of them ends.
  func settle(_ ids: [PictureID], of pictures: any SettledPictures) {
    let ids = ids.sorted()
    var missing: [PictureID] = []
    var start = 0
    do throws(CacheError) {
      try context.store.enter { () throws(CacheError) in
        let batch = Array(ids[start..<min(start + Self.settledBatch, ids.count)])
        guard !batch.isEmpty, !hasStopped() else { return nil }
        let found = try pictures.pictures(batch)
        missing += batch.filter { found[$0] == nil }
        let settled = batch.compactMap { found[$0] }
        start += batch.count
        for picture in settled { note(picture) }
        finish(settled.map { ($0.entry.id, $0.end) })
        return settled.map { ($0.entry, $0.isFetched ? $0.before : nil) }
      }
      try refuse(missing)
    } catch {
      context.failures.note(error)
      finish(missing.map { ($0, .failed) })
    }
    finish(ids[start...].map { ($0, .unfinished) })
  }

  /// Tells of a picture whose row is being written: when that fails, the run does.
  private func note(_ picture: SettledPicture) {
    orphans.pass(picture.entry)
    if let failure = picture.failure { context.failures.note(picture.entry.id, failure) }
    if picture.isFetched { stored(picture.entry.id) }
  }

  /// Ends pictures that nobody had to bring.
  private func refuse(_ ids: [PictureID]) throws(CacheError) {
    guard !ids.isEmpty else { return }
    let urls = try context.index.pictureURLs(ids)
    for id in ids {
      let url = (try? context.transport.parse(urls[id] ?? "", relativeTo: nil))?.redacted ?? ""
      context.failures.note(id, TransferFailure(reason: .notPlanned, url: url))
    }
    finish(ids.map { ($0, .failed) })
  }
}

extension SettledPicture {
  fileprivate var isFetched: Bool { if case .fetched = end { true } else { false } }
}
