import Base
import Cache
import NIOCore
import Pipeline

/// Serves pictures by their paths in the cache, such as `/images/ab/….jpg`, and small square versions of them
/// (`?square=256`).
///
/// A path is looked up in the cache's index and in the catalog. If neither has it, no file is opened and nothing is
/// fetched.
final class ImageRoutes: Sendable {
  private let catalog: OpenCatalog
  private let files: ServedFiles
  /// The object store with the pictures; nil if they are files in the cache.
  private let kept: KeptImages?
  private let sides: [Int]
  private let squares: Squares
  private let pulls: PullThrough?
  private let pool: WorkPool

  /// A request for a picture that is being answered.
  private struct Question: Sendable {
    let request: ServerRequest
    /// The path of the picture in the cache.
    let path: String
    /// The side of the requested square, in pixels; nil if the picture itself is requested.
    let side: Int?
    /// Whether the picture was fetched for this request.
    var isFetched = false
    /// Called exactly once with the answer.
    let done: @Sendable (Answer) -> Void

    /// The key of the picture or its square in ``CatalogSnapshot/images``, such as `256/images/ab/….jpg`.
    var key: String { ImageRoutes.key(path, side) }
  }

  private static func key(_ path: String, _ side: Int?) -> String {
    side.map { "\($0)/\(path)" } ?? path
  }

  init(_ content: ServerContent, _ pool: WorkPool) {
    catalog = content.catalog
    files = ServedFiles(cache: content.cache)
    sides = content.squares
    kept = content.remote.map { KeptImages($0) }
    squares = Squares(content.cache, remote: content.remote, pictures: content.pictures)
    pulls = content.pulls
    self.pool = pool
  }

  /// The counts of fetched pictures and of squares.
  ///
  /// The count of fetched pictures is nil if the server fetches none.
  var counts: (pulls: PullCounts?, squares: SquareCounts) { (pulls?.counts, squares.counts) }

  /// Ends the transfers under way.
  func stop() { pulls?.stop() }

  func outcome(of request: ServerRequest) -> Site.Outcome {
    guard request.target.segments.count == 3 else { return .now(.noPicture, .image) }
    let path = String(request.target.path.dropFirst())
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
    let route = side == nil ? RequestRecord.Route.image : .square
    if let image = catalog.current?.images[Self.key(path, side)],
      let answer = image.answer(request, from: files)
    {
      return .now(answer, route)
    }
    return .later(route) { [self, side] done in
      begin(Question(request: request, path: path, side: side, done: done))
    }
  }

  private func begin(_ question: Question, isLost: Bool = false) {
    if !pool.begin({ [self] in find(question, isLost: isLost) }) { question.done(.busy) }
  }

  /// Finds a picture in the index, then in the working folder, then at its origin.
  ///
  /// If `isLost` is true, the object store has no longer the picture that the index names.
  private func find(_ question: Question, isLost: Bool = false) {
    do throws(LarderError) {
      let snapshot = try catalog.renewed()
      let row = try snapshot.reader.picture(at: question.path)
      let isHeld = row?.isHeld ?? false
      if question.isFetched, let entry = pulls?.unkept(at: question.path) {
        return try send(entry, isInCache: kept != nil, question, snapshot)
      }
      if let row, isHeld, !isLost,
        kept != nil || pulls == nil || files.hold(question.path, as: row.stamp)
      {
        return try send(row, isInCache: true, question, snapshot)
      }
      if !isLost, let entry = pulls?.unkept(at: question.path) {
        return try send(entry, isInCache: kept != nil, question, snapshot)
      }
      guard let pulls, !question.isFetched, let row, try snapshot.shows(row)
      else { return question.done(.noPicture) }
      let picture = PictureEntry(id: row.id, url: row.url, identity: row.identity)
      // If somebody deleted the picture, fetch it unconditionally, because an answer with status 304 has no body.
      pulls.fetch(picture, known: isHeld ? nil : row) { [self] outcome in
        switch outcome {
        case .busy: question.done(.busy)
        case .fetched:
          var question = question
          question.isFetched = true
          find(question)
        case .refused(let refusal) where refusal.isLasting:
          question.done(.problem(404, "its origin does not have the picture: \(refusal.reason)"))
        case .refused(let refusal):
          let words = "its origin does not deliver the picture: \(refusal.reason)"
          question.done(.problem(502, words, [("Retry-After", "10")]))
        }
      }
    } catch {
      question.done(.unreadable.caused(by: error))
    }
  }

  /// Sends a picture, or its square.
  ///
  /// If `isInCache` is false, the picture is in the working folder.
  private func send(
    _ picture: PictureEntry,
    isInCache: Bool,
    _ question: Question,
    _ snapshot: CatalogSnapshot
  ) throws(LarderError) {
    let (request, done) = (question.request, question.done)
    guard let digest = picture.sha256 else { return done(.noPicture) }
    if let side = question.side {
      if isInCache, let answer = try heldSquare(of: picture, digest, side, question, snapshot) {
        return done(answer)
      }
      let room = isInCache ? nil : pulls?.roomPath
      return squares.make(of: picture, digest: digest, side: side, room: room) { outcome in
        done(Self.answer(request, outcome, of: picture))
      }
    }
    if let kept, isInCache {
      return kept.send(picture, request) { [self] answer in
        if let answer { return done(answer) }
        if question.isFetched { done(.unreadable) } else { begin(question, isLost: true) }
      }
    }
    let image = ServedImage(
      path: picture.name.path,
      sha256: digest,
      type: picture.type,
      stamp: picture.stamp
    )
    if isInCache { snapshot.images.add(image, cost: image.cost, for: question.key) }
    // A picture may have moved from the working folder to the cache in the meantime.
    let answer = isInCache ? nil : pulls.flatMap { image.answer(request, from: $0.files) }
    done(answer ?? image.answer(request, from: files) ?? .noPicture)
  }

  /// The answer for a square that is in the cache, or that is known to be impossible.
  ///
  /// Nil if the square has to be made.
  private func heldSquare(
    of picture: PictureEntry,
    _ digest: [UInt8],
    _ side: Int,
    _ question: Question,
    _ snapshot: CatalogSnapshot
  ) throws(LarderError) -> Answer? {
    guard let square = try snapshot.reader.square(of: picture, side: side),
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
    snapshot.images.add(image, cost: image.cost, for: question.key)
    return answer
  }

  /// The answer for a new square, which is sent from memory.
  private static func answer(
    _ request: ServerRequest,
    _ outcome: Squares.Outcome,
    of picture: PictureEntry
  ) -> Answer {
    switch outcome {
    case .failure(let answer): return answer
    case .success(let bytes):
      let image = ServedImage(
        path: "",
        sha256: ContentDigest.sha256(bytes),
        type: picture.type?.kept,
        stamp: nil,
        changed: picture.fetched
      )
      return image.prepared.answer(request, size: bytes.count) {
        .bytes(ByteBuffer(bytes: bytes[$0]))
      }
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
