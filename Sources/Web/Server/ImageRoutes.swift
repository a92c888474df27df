import Base
import Cache
import NIOCore
import Pipeline
import Synchronization

/// Serves pictures by their paths in the cache, such as `/images/ab/….jpg`, and small square versions of them
/// (`?square=256`).
///
/// A path is looked up in the cache's index and in the catalog. If neither has it, no file is opened and nothing is
/// fetched.
final class ImageRoutes: Sendable {
  private let catalog: OpenCatalog
  private let cache: String
  private let files: ServedFiles
  /// The object store with the pictures; nil if they are files in the cache.
  private let kept: KeptImages?
  private let sides: [Int]
  private let squares: Squares
  private let pulls: PullThrough?
  private let roomPath: String
  private let pool: WorkPool
  /// Paths that the catalog does not name, remembered until the next run.
  private let unknown = Mutex<(run: Int64, paths: Set<String>)>((0, []))

  /// A request for a picture that is being answered.
  private struct Question: Sendable {
    let request: ServerRequest
    /// The side of the requested square, in pixels; nil if the picture itself is requested.
    let side: Int?
    let snapshot: CatalogSnapshot
    /// Whether the picture was fetched again because its object was missing in the store.
    var isAnew = false
    /// Called exactly once with the answer.
    let done: @Sendable (Answer) -> Void
  }

  init(_ content: ServerContent, _ pool: WorkPool) {
    catalog = content.catalog
    cache = content.cache
    files = ServedFiles(cache: content.cache)
    sides = content.squares
    kept = content.remote.map { KeptImages($0) }
    squares = Squares(content.cache, remote: content.remote, pictures: content.pictures)
    pulls = content.pulls
    roomPath = content.room?.path ?? ""
    self.pool = pool
  }

  /// The counts of fetched pictures and of squares.
  ///
  /// The count of fetched pictures is nil if the server fetches none.
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
    if let image = catalog.current?.images[key], let answer = image.answer(request, from: files) {
      return .now(answer, route)
    }
    return .later(route) { [self, side] done in
      if !pool.begin({ [self] in find(request, path, side, done) }) { done(.busy) }
    }
  }

  /// The key of a picture or its square in ``CatalogSnapshot/images``, such as `256/images/ab/….jpg`.
  static func key(_ path: String, _ side: Int?) -> String {
    side.map { "\($0)/\(path)" } ?? path
  }

  /// Finds a picture in the index, then in the working folder, then at its origin.
  private func find(
    _ request: ServerRequest,
    _ path: String,
    _ side: Int?,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    do throws(LarderError) {
      let snapshot = try catalog.renewed()
      let question = Question(request: request, side: side, snapshot: snapshot, done: done)
      var known = try snapshot.reader.picture(at: path)
      let row = known
      if let held = known, held.isHeld {
        if kept != nil || pulls == nil || files.hold(path) {
          return try send(held, .cache, question)
        }
        // Somebody deleted the picture's file. Fetch the picture unconditionally, because an answer with status 304 has
        // no body.
        known = nil
      }
      guard let pulls else { return done(.noPicture) }
      if let entry = pulls.unkept(at: path) { return try send(entry, .room, question) }
      guard let named = try url(of: path, snapshot.reader) else { return done(.noPicture) }
      // The URL that identifies a picture may lack parameters, such as a signature, that a request needs. The index row
      // has the whole URL.
      let picture = PictureEntry(
        id: PictureID(url: named),
        url: row?.url ?? named,
        identity: named
      )
      pulls.fetch(picture, known: known) { [self] in answer($0, question) }
    } catch {
      done(.unreadable.caused(by: error))
    }
  }

  /// The URL of the picture with a path in the cache; nil if the catalog names no such picture.
  ///
  /// A path that the catalog does not name is looked up only once for each run, because the search reads all items.
  private func url(of path: String, _ reader: CatalogReader) throws(LarderError) -> String? {
    let run = try reader.lastRun().id.rawValue
    let isUnknown = unknown.withLock { unknown in
      if unknown.run != run || unknown.paths.count > 10_000 { unknown = (run, []) }
      return unknown.paths.contains(path)
    }
    guard !isUnknown else { return nil }
    if let url = try reader.url(ofPictureAt: path) { return url }
    // Paths of 128 bytes and more are not remembered, because no picture has such a path.
    if path.utf8.count < 128 { unknown.withLock { _ = $0.paths.insert(path) } }
    return nil
  }

  /// Answers a request after its picture was fetched.
  private func answer(_ outcome: PullThrough.Outcome, _ question: Question) {
    switch outcome {
    case .busy: question.done(.busy)
    case .refused(let refusal) where refusal.isLasting:
      question.done(.problem(404, "its origin does not have the picture: \(refusal.reason)"))
    case .refused(let refusal):
      let words = "its origin does not deliver the picture: \(refusal.reason)"
      question.done(.problem(502, words, [("Retry-After", "10")]))
    case .had(let entry, let place):
      do throws(LarderError) {
        try send(entry, place, question)
      } catch {
        question.done(.unreadable.caused(by: error))
      }
    }
  }

  /// Sends a picture, or its square.
  private func send(
    _ picture: PictureEntry,
    _ place: PullThrough.Place,
    _ question: Question
  ) throws(LarderError) {
    let (request, done) = (question.request, question.done)
    guard let digest = picture.sha256 else { return done(.noPicture) }
    let path = picture.name.path
    if let side = question.side {
      if place == .cache, let answer = try heldSquare(of: picture, digest, side, question) {
        return done(answer)
      }
      return squares.make(
        of: picture,
        digest: digest,
        side: side,
        in: place == .cache ? cache : roomPath
      ) { [self] in
        done(madeSquare($0, of: picture, digest, side, place, question))
      }
    }
    if let kept, place == .cache {
      return kept.send(picture, request) { [self] answer in
        if let answer { return done(answer) }
        if question.isAnew { done(.noPicture) } else { fetchAnew(picture, question) }
      }
    }
    let image = ServedImage(
      path: path,
      sha256: digest,
      type: picture.type,
      stamp: picture.stamp
    )
    if place == .cache { question.snapshot.images.add(image, cost: image.cost, for: path) }
    // A picture may have moved from the working folder to the cache in the meantime.
    let answer =
      place == .room
      ? pulls.flatMap { image.answer(request, from: $0.files) } : nil
    done(answer ?? image.answer(request, from: files) ?? .noPicture)
  }

  /// Fetches a picture again after somebody deleted its object from the store.
  ///
  /// The request to the origin is unconditional, because an answer with status 304 has no body.
  private func fetchAnew(_ picture: PictureEntry, _ question: Question) {
    guard let pulls else { return question.done(.noPicture) }
    let begins = pool.begin { [self] in
      do throws(LarderError) {
        guard try url(of: picture.name.path, question.snapshot.reader) != nil else {
          return question.done(.noPicture)
        }
        let anew = PictureEntry(id: picture.id, url: picture.url, identity: picture.identity)
        var question = question
        question.isAnew = true
        pulls.fetch(anew, known: nil) { [self, question] in answer($0, question) }
      } catch {
        question.done(.unreadable.caused(by: error))
      }
    }
    if !begins { question.done(.busy) }
  }

  /// The answer for a square that is in the cache, or that is known to be impossible.
  ///
  /// Nil if the square has to be made.
  private func heldSquare(
    of picture: PictureEntry,
    _ digest: [UInt8],
    _ side: Int,
    _ question: Question
  ) throws(LarderError) -> Answer? {
    guard let square = try question.snapshot.reader.square(of: picture, side: side),
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
    guard let answer = image.answer(question.request, from: files) else { return nil }
    let key = Self.key(picture.name.path, side)
    question.snapshot.images.add(image, cost: image.cost, for: key)
    return answer
  }

  /// The answer for a new square: from its file in the cache if the file could be written, and otherwise from memory.
  private func madeSquare(
    _ outcome: Squares.Outcome,
    of picture: PictureEntry,
    _ digest: [UInt8],
    _ side: Int,
    _ place: PullThrough.Place,
    _ question: Question
  ) -> Answer {
    switch outcome {
    case .busy: return .busy
    case .refused(let words): return .noSquare(words)
    case .made(let bytes, let type):
      if place == .cache, let answer = try? heldSquare(of: picture, digest, side, question) {
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
      return image.answer(question.request, size: size) { .bytes(ByteBuffer(bytes: bytes[$0])) }
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
