import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage
import Transport

/// The shop's responses to a plan's requests for sections (lists of items) and details (documents about one item).
///
/// The responses are in the file `documents.log`, and memory has only their offsets in the file. Each response is a
/// ``DocumentAnswer`` as a line of JSON. If the response has a body, the body and a line feed follow.
struct PlannedDocuments: GivenDocuments {
  private let path: String
  /// The offset of the last response for each document.
  ///
  /// A document can have several responses.
  private let lines: [DocumentID: Int64]
  /// The length and digest of the file.
  let sum: FileSum?

  /// The number of bytes to read at once.
  private static let piece = 64 * 1024

  /// Reads the whole file once, and records the offset of each response.
  ///
  /// - Throws: ``LarderError`` if a line is malformed; `Errno` if the file cannot be read.
  init(_ path: String) throws {
    let reader = try LineReader(path)
    var lines: [DocumentID: Int64] = [:]
    while true {
      let offset = reader.offset
      guard let answer = try Self.next(in: reader, path) else { break }
      lines[answer.document] = offset
      if let bytes = answer.bytes {
        try reader.skip(bytes)
        try reader.skip(1)
      }
    }
    (self.path, self.lines, sum) = (path, lines, reader.sum)
  }

  private static func next(in reader: LineReader, _ path: String) throws -> DocumentAnswer? {
    guard let text = try reader.line() else { return nil }
    guard let answer = try? JSONDecoder().decode(DocumentAnswer.self, from: Data(text)),
      answer.bytes ?? 0 >= 0
    else {
      throw LarderError(
        .data,
        "cannot read \(path): it is not a log of documents; make a new plan"
      )
    }
    return answer
  }

  /// The recorded response to the request for a document, or nil if the plan has none.
  func answer(
    to document: DocumentID,
    most: ByteCount,
    take: (ArraySlice<UInt8>) -> Void
  ) throws -> DocumentAnswer? {
    guard let offset = lines[document] else { return nil }
    let reader = try LineReader(path, from: offset, piece: Self.piece)
    guard let answer = try Self.next(in: reader, path) else { throw Errno.ioError }
    let bytes = answer.bytes ?? 0
    guard ByteCount(bytes) <= most else {
      throw TransferFailure(reason: .tooLarge, url: path, detail: "\(bytes) bytes")
    }
    guard try reader.skip(bytes, take) else { throw Errno.ioError }
    return answer
  }
}
