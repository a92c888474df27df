import Base
import Cache
import NIOCore
import Pipeline
import Synchronization

/// Serves pictures by their paths in the cache, such as `/images/ab/….jpg`, and small square versions of them
/// (`?square=256`).
///
/// A path is looked up in the index and in the catalog; if neither has it, no file is opened and nothing is fetched.
final class ImageRoutes: Sendable {
  private let shelf: OpenCatalog
  private let cache: String
  private let files: ServedFiles
  /// The object store with the pictures; nil when they are files in the cache.
  private let kept: KeptImages?
  private let sides: [Int]
  private let squares: Squares
  private let pulls: PullThrough?
  private let roomPath: String
  private let bench: WorkPool
  /// Paths that the catalog does not name, remembered until the next run.
  private let unknown = Mutex<(run: Int64, paths: Set<String>)>((0, []))

  init(_ content: ServerContent, _ bench: WorkPool) {
    shelf = content.shelf
    cache = content.cache
    files = ServedFiles(cache: content.cache)
    sides = content.squares
    kept = content.remote.map { KeptImages($0) }
    squares = Squares(content.cache, remote: content.remote, pictures: content.pictures)
    pulls = content.pulls
    roomPath = content.room?.path ?? ""
    self.bench = bench
  }

  /// The counts of fetched pictures and squares.
  var counts: (pulls: PullCounts?, squares: SquareCounts) { (pulls?.counts, squares.counts) }

  /// Ends the transfers under way.
  func stop() { pulls?.stop() }

  func outcome(of request: ServerRequest) -> Site.Outcome {
    let path = String(request.target.path.dropFirst())
    guard request.target.segments.count == 3 else { return .now(.noPicture, .image) }
    var side: Int?
    if let text = request.target.value("square") {
      guard let number = Int(text), sides.contains(number), text == "\(number)" else {
        let sizes = sides.map(String.init).joined(separator: ", ")
        let words =
          sides.isEmpty
          ? "this server does not make squares" : "squares have sides of \(sizes) pixels"
        return .now(.problem(400, words), .square)
      }
      side = number
    }
    let key = Self.key(path, side)
    let route = side == nil ? RequestRecord.Route.image : .square
    if let image = shelf.current?.images[key], let answer = image.answer(request, from: files) {
      return .now(answer, route)
    }
    return .later(route) { [self, side] done in
      let begins = bench.begin { [self] in find(request, path, side, done) }
      if !begins { done(.busy) }
    }
  }

  private static func key(_ path: String, _ side: Int?) -> String {
    side.map { "\($0)/\(path)" } ?? path
  }

  /// Finds a picture in the index, then among the fetched pictures that are not in the cache yet, then at its origin.
  private func find(
    _ request: ServerRequest,
    _ path: String,
    _ side: Int?,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    do throws(LarderError) {
      let edition = try shelf.renewed()
      var known = try edition.reader.picture(at: path)
      let row = known
      if let held = known, held.isHeld {
        if kept != nil || pulls == nil || files.hold(path) {
          return try send(held, .cache, side, request, edition, done)
        }
        // Somebody deleted the picture's file. Fetch the picture unconditionally, because a 304 has no body.
        known = nil
      }
      guard let pulls else { return done(.noPicture) }
      if let entry = pulls.unkept(at: path) {
        return try send(entry, .room, side, request, edition, done)
      }
      guard let named = try url(of: path, edition.reader) else { return done(.noPicture) }
      // The catalog file may reduce a URL to the part that identifies the picture; the index row has the URL to
      // request.
      let picture = PictureEntry(
        id: PictureID(url: named),
        url: row?.url ?? named,
        identity: named
      )
      pulls.fetch(picture, known: known) { [self] outcome in
        answer(outcome, side, request, edition, done)
      }
    } catch {
      done(.unreadable.caused(by: error))
    }
  }

  /// The URL of a picture that the catalog names.
  ///
  /// A path that the catalog does not name is looked up only once for each run.
  private func url(of path: String, _ reader: CatalogReader) throws(LarderError) -> String? {
    let run = try reader.lastRun().id.rawValue
    let isUnknown = unknown.withLock { unknown in
      if unknown.run != run || unknown.paths.count > 10_000 { unknown = (run, []) }
      return unknown.paths.contains(path)
    }
    guard !isUnknown else { return nil }
    if let url = try reader.url(ofPictureAt: path) { return url }
    // Longer paths are not remembered, because no picture has such a path.
    if path.utf8.count < 128 { unknown.withLock { _ = $0.paths.insert(path) } }
    return nil
  }

  private func answer(
    _ outcome: PullThrough.Outcome,
    _ side: Int?,
    _ request: ServerRequest,
    _ edition: CatalogSnapshot,
    isAnew: Bool = false,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    switch outcome {
    case .busy: done(.busy)
    case .refused(let refusal) where refusal.isLasting:
      done(.problem(404, "its origin does not have the picture: \(refusal.reason)"))
    case .refused(let refusal):
      let words = "its origin does not deliver the picture: \(refusal.reason)"
      done(.problem(502, words, [("Retry-After", "10")]))
    case .had(let entry, let place):
      do throws(LarderError) {
        try send(entry, place, side, request, edition, isAnew: isAnew, done)
      } catch {
        done(.unreadable.caused(by: error))
      }
    }
  }

  /// Sends a picture, or its square.
  private func send(
    _ picture: PictureEntry,
    _ place: PullThrough.Place,
    _ side: Int?,
    _ request: ServerRequest,
    _ edition: CatalogSnapshot,
    isAnew: Bool = false,
    _ done: @escaping @Sendable (Answer) -> Void
  ) throws(LarderError) {
    guard let digest = picture.sha256 else { return done(.noPicture) }
    let path = picture.name.path
    if let side {
      if place == .cache,
        let answer = try heldSquare(of: picture, digest, side, request, edition)
      {
        return done(answer)
      }
      return squares.make(
        of: picture,
        digest: digest,
        side: side,
        in: place == .cache ? cache : roomPath
      ) { [self] outcome in
        done(madeSquare(outcome, of: picture, digest, side, place, request, edition))
      }
    }
    if let kept, place == .cache {
      return kept.send(picture, request) { [self] answer in
        if let answer { return done(answer) }
        if isAnew { done(.noPicture) } else { fetchAnew(picture, request, edition, done) }
      }
    }
    let image = ServedImage(
      path: path,
      sha256: digest,
      type: picture.type,
      stamp: picture.stamp
    )
    if place == .cache { edition.images.add(image, cost: image.cost, for: path) }
    // A picture may have moved from the working folder to the cache in the meantime.
    let answer =
      place == .room
      ? pulls.flatMap { image.answer(request, from: $0.files) } : nil
    done(answer ?? image.answer(request, from: files) ?? .noPicture)
  }

  /// Fetches a picture unconditionally after somebody deleted its object from the store.
  private func fetchAnew(
    _ picture: PictureEntry,
    _ request: ServerRequest,
    _ edition: CatalogSnapshot,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    guard let pulls else { return done(.noPicture) }
    let begins = bench.begin { [self] in
      do throws(LarderError) {
        guard try url(of: picture.name.path, edition.reader) != nil else {
          return done(.noPicture)
        }
        let anew = PictureEntry(id: picture.id, url: picture.url, identity: picture.identity)
        pulls.fetch(anew, known: nil) { [self] outcome in
          answer(outcome, nil, request, edition, isAnew: true, done)
        }
      } catch {
        done(.unreadable.caused(by: error))
      }
    }
    if !begins { done(.busy) }
  }

  /// The answer for a square that is in the cache, or is known to be impossible; nil if the square has to be made.
  private func heldSquare(
    of picture: PictureEntry,
    _ digest: [UInt8],
    _ side: Int,
    _ request: ServerRequest,
    _ edition: CatalogSnapshot
  ) throws(LarderError) -> Answer? {
    guard let square = try edition.reader.square(of: picture, side: side),
      square.source == digest
    else { return nil }
    guard let made = square.sha256 else { return square.failure.map { .noSquare($0) } }
    let image = ServedImage(
      path: square.name,
      sha256: made,
      type: picture.type?.kept,
      stamp: square.stamp,
      changed: picture.fetched
    )
    guard let answer = image.answer(request, from: files) else { return nil }
    edition.images.add(image, cost: image.cost, for: Self.key(picture.name.path, side))
    return answer
  }

  /// The answer for a new square: from its file in the cache if it could be written, else from memory.
  private func madeSquare(
    _ outcome: Squares.Outcome,
    of picture: PictureEntry,
    _ digest: [UInt8],
    _ side: Int,
    _ place: PullThrough.Place,
    _ request: ServerRequest,
    _ edition: CatalogSnapshot
  ) -> Answer {
    switch outcome {
    case .busy: return .busy
    case .refused(let words): return .noSquare(words)
    case .made(let bytes, let type):
      if place == .cache,
        let answer = try? heldSquare(of: picture, digest, side, request, edition)
      {
        return answer
      }
      let size = bytes.count
      let image = ServedImage(
        path: "",
        sha256: ContentDigest.sha256(bytes),
        type: type,
        stamp: FileStamp(inode: 0, bytes: ByteCount(size), modified: UnixTime(0)),
        changed: picture.fetched
      )
      return image.answer(request, size: size) { .bytes(ByteBuffer(bytes: bytes[$0])) }
    }
  }
}

extension Answer {
  /// The answer for a picture that no catalog names.
  static let noPicture = Answer.problem(404, "no catalog has such a picture")
  /// The answer while the cache cannot be read.
  static let unreadable = Answer.problem(
    503,
    "the cache cannot be read just now; try again in a second",
    [("Retry-After", "1")]
  )

  /// The answer when no square can be made of a picture.
  static func noSquare(_ words: String) -> Answer {
    .problem(404, "no square can be made of the picture: \(words)")
  }
}
