import Base
import Cache
import Transport

/// The place that a run's pictures come from.
package enum PictureSource: Sendable {
  /// Requests to the servers of the pictures.
  case origins
  /// No requests. Instead, the closure is called with each picture that would be requested. The plan of a sync that
  /// many machines share is made in this way.
  case named(@Sendable (PictureID, WebURL) -> Void)
  /// No requests are sent. The results come from shards that have already put the files into the cache. A shard is one
  /// machine's part of a shared sync, namely a run that fetches some of the pictures.
  case settled(any ImportedPictures)
}

/// The results of shards for the pictures of a run.
///
/// A shard is one machine's part of a large sync, namely a run that fetches some of the pictures.
package protocol ImportedPictures: Sendable {
  /// Returns those of the pictures that were assigned to a shard.
  ///
  /// - Throws: ``LarderError`` if the results cannot be read.
  func members(_ ids: [PictureID]) throws(LarderError) -> Set<PictureID>

  /// Whether the picture whose file is at this path in the cache was assigned to a shard.
  ///
  /// The result false is certain. The result true can be wrong.
  ///
  /// - Throws: ``LarderError`` if the results cannot be read.
  func mightContain(_ path: String) throws(LarderError) -> Bool

  /// Returns the results for pictures. Pictures that were not assigned to a shard are left out.
  ///
  /// - Throws: ``LarderError`` if the results cannot be read.
  func pictures(_ ids: [PictureID]) throws(LarderError) -> [PictureID: SettledPicture]
}

/// The places that a run's documents and pictures come from.
///
/// In a normal sync, these are the shop's servers. In a merge, they are the results of shards.
package struct PlannedInputs: Sendable {
  /// The place that sections and details come from.
  package var documents = DocumentOrigin.origins
  /// The place that pictures come from.
  package var pictures = PictureSource.origins
  /// The states that pictures had before the run.
  ///
  /// If they are nil, they are read from the cache's index.
  package var states: KnownPictures?
  /// The results of shards; nil unless ``pictures`` is `.settled`.
  var settled: (any ImportedPictures)? {
    if case .settled(let pictures) = pictures { pictures } else { nil }
  }
  /// The number of requests that other runs made for this run.
  package var requests = 0

  /// Makes the value for a normal sync.
  package init() {}
}

/// The result of another run for a picture.
///
/// The run is a shard, or fetched the picture for the server.
package struct SettledPicture: Sendable, Equatable {
  /// The picture's row, to be written to the index.
  package var entry: PictureEntry
  /// The result of the picture's request.
  package var end: FetchedPicture
  /// The SHA-256 of the bytes that the cache had before; nil if the request did not replace them.
  package var before: [UInt8]?
  /// The failure, if any.
  package var failure: SyncReport.Failure?

  /// Makes a result from its parts.
  package init(
    entry: PictureEntry,
    end: FetchedPicture,
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
  /// The reason for a picture that has the same key as another picture.
  ///
  /// The key is a hash of the picture's identity, which is its URL or a part of it.
  package static let identityClash = FailureReason(rawValue: "identity-clash")
  /// The reason for a document or picture that is missing in the plan of a shared sync.
  package static let notPlanned = FailureReason(rawValue: "not-planned")
}

extension PictureStage {
  /// The number of pictures whose results are written in one transaction.
  ///
  /// The number is large so that, in a cache with millions of pictures, a page of the database is written once for many
  /// pictures.
  static let settledAtOnce = 1 << 19
  /// The number of pictures whose results are in memory at once.
  private static let settledBatch = 1024

  /// Writes the results of shards for some pictures in one transaction, and finishes each of these pictures.
  func settle(_ ids: [PictureID], of pictures: any ImportedPictures) {
    let ids = ids.sorted()
    var missing: [PictureID] = []
    var start = 0
    do throws(LarderError) {
      try context.store.enter { () throws(LarderError) in
        let batch = Array(ids[start..<min(start + Self.settledBatch, ids.count)])
        guard !batch.isEmpty, !context.hasStopped() else { return nil }
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

  /// Reports the result of a picture, before its row is written.
  ///
  /// This is safe because the whole run fails if the row cannot be written.
  private func note(_ picture: SettledPicture) {
    strays.pass(picture.entry)
    if let failure = picture.failure { context.failures.note(failure, of: picture.entry.id) }
    if picture.isFetched { stored(picture.entry.id) }
  }

  /// Reports pictures that the plan does not contain as failed.
  private func refuse(_ ids: [PictureID]) throws(LarderError) {
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
