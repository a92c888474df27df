import Cache

/// Takes a document's body as it comes: into memory, and once it is large into a file of the cache.
///
/// Where no file can be made or written, all stays in memory.
struct BodySpool {
  /// How much is in memory at most where a file is to be had; ``ListingWindows`` does not cut what is smaller.
  static let mostInMemory = 4 << 20
  /// How much is written to the file at once, and read from it.
  static let piece = 1 << 20

  /// Makes the file that a large body lies in; nil where all stays in memory.
  typealias MakingFile = @Sendable () throws(CacheError) -> BodyFile

  private let makeFile: MakingFile?
  private let mostInMemory: Int
  private var waiting: [UInt8] = []
  private var file: BodyFile?
  private var written = 0
  private var digest = RunningDigest()
  private var isFileOut = false

  /// Takes nothing yet.
  ///
  /// - Parameter layout: The cache; nil leaves all in memory.
  init(in layout: CacheLayout?) {
    var makeFile: MakingFile?
    if let layout { makeFile = { () throws(CacheError) in try BodyFile(in: layout) } }
    self.init(mostInMemory: Self.mostInMemory, makeFile: makeFile)
  }

  /// Takes nothing yet.
  ///
  /// - Parameters:
  ///   - mostInMemory: How large a body becomes before it is put into a file.
  ///   - makeFile: Makes that file; nil leaves all in memory.
  init(mostInMemory: Int, makeFile: MakingFile?) {
    self.mostInMemory = mostInMemory
    self.makeFile = makeFile
  }

  /// How many bytes came.
  var count: Int { written + waiting.count }

  /// Adds bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    waiting.append(contentsOf: bytes)
    let most = file == nil ? mostInMemory : min(mostInMemory, Self.piece)
    if waiting.count > most, !isFileOut, let makeFile { spill(makeFile) }
  }

  /// Adds bytes.
  mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Forgets what came.
  mutating func removeAll() {
    self = BodySpool(mostInMemory: mostInMemory, makeFile: makeFile)
  }

  /// What came; nothing is held afterwards.
  mutating func take() -> DocumentBody {
    defer { removeAll() }
    if file != nil, !waiting.isEmpty, let makeFile { spill(makeFile) }
    guard let file else { return DocumentBody(waiting) }
    return DocumentBody(file, count: written, digest: digest.number)
  }

  /// Puts what waits into the file; takes all back from it when that fails.
  private mutating func spill(_ makeFile: MakingFile) {
    do throws(CacheError) {
      let file: BodyFile
      if let open = self.file { file = open } else { file = try makeFile() }
      self.file = file
      var failure: CacheError?
      waiting.withUnsafeBytes { bytes in
        do throws(CacheError) { try file.write(bytes, at: written) } catch { failure = error }
        digest.add(bytes)
      }
      if let failure { throw failure }
      written += waiting.count
      // Its own rounding is on top of what was asked for.
      waiting.removeAll(keepingCapacity: waiting.capacity < 4 * Self.piece)
    } catch {
      isFileOut = true
      guard let file else { return }
      var bytes = [UInt8](repeating: 0, count: written)
      // What was just written is still in the page cache; were it not, the zeros would be no JSON.
      try? file.fill(&bytes, from: 0)
      waiting = bytes + waiting
      self.file = nil
      written = 0
    }
  }
}
