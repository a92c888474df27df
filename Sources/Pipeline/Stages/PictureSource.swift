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
  /// Whether one of them had a picture to bring.
  func has(_ id: PictureID) -> Bool

  /// Whether one of them had a picture to bring whose file has this path in a cache, as far as a path tells.
  func mayHave(_ path: String) -> Bool

  /// What they made of pictures; those that none had to bring are left out.
  ///
  /// - Throws: ``CacheError`` when it cannot be read.
  func pictures(_ ids: [PictureID]) throws(CacheError) -> [PictureID: SettledPicture]
}

/// What takes the place of a run's origins: nothing, in a plain sync.
package struct RunParts: Sendable {
  /// A way to fetch documents.
  package typealias Origin = any Fetching & URLParsing

  /// Takes the run's secrets out of a text.
  package typealias Hiding = @Sendable (String) -> String

  /// What the run fetches documents by, made of what it would fetch them by.
  package var origin: @Sendable (Origin, @escaping Hiding) -> Origin = { origin, _ in origin }
  /// Where its pictures come from.
  package var pictures = PictureSource.origins
  /// What is known of the pictures' freshness; nil for what the cache's index says.
  package var states: [PictureID: PictureState]?
  /// Whether a file of the cache is of a picture that another run brought, and so needs no look.
  var isClaimed: (String) -> Bool {
    if case .settled(let pictures) = pictures { return { pictures.mayHave($0) } }
    return { _ in false }
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
  /// The plan that a run commits does not have it.
  package static let notPlanned = FailureReason(rawValue: "not-planned")
}

extension PictureStage {
  /// Enters what other runs made of pictures.
  func settle(_ ids: [PictureID], of pictures: any SettledPictures) {
    var found: [PictureID: SettledPicture] = [:]
    var urls: [PictureID: String] = [:]
    do throws(CacheError) {
      found = try pictures.pictures(ids)
      if found.count < ids.count {
        urls = try context.index.pictureURLs(ids.filter { found[$0] == nil })
      }
    } catch {
      context.failures.note(error)
    }
    context.store.announce(ids.count)
    for id in ids {
      if let picture = found[id] {
        settle(id, picture)
      } else {
        let failure = TransferFailure(reason: .notPlanned, url: redacted(urls[id] ?? ""))
        context.failures.note(id, failure)
        finish(settled: id, .failed)
      }
      context.store.conclude()
    }
  }

  /// Enters what another run made of a picture; every path ends it.
  private func settle(_ id: PictureID, _ picture: SettledPicture) {
    let entry = picture.entry
    orphans.pass(id, url: entry.url)
    if let failure = picture.failure { context.failures.note(id, failure) }
    guard case .fetched = picture.end else {
      return context.store.commit(
        row: { entry },
        completion: { [self] in
          finish(settled: id, picture.end)
        }
      )
    }
    context.store.commit(placed: entry, before: picture.before) { [self] outcome in
      if case .refused(let reason, let detail) = outcome {
        let failure = TransferFailure(reason: reason, url: redacted(entry.url), detail: detail)
        context.failures.note(id, failure)
        return finish(settled: id, .failed)
      }
      stored(id)
      finish(settled: id, picture.end)
    }
  }

  private func redacted(_ url: String) -> String {
    (try? context.transport.parse(url, relativeTo: nil))?.redacted ?? ""
  }
}
