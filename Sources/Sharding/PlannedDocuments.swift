import Base
import Cache
import FoundationEssentials
import Pipeline
import SystemPackage
import Transport

/// The origin's answers to a plan's requests for sections and details, found by the document's id.
///
/// The answers stay on disk in `documents.log`, which ``DocumentOrigin/kept(_:)`` wrote. Memory has only their offsets.
struct PlannedDocuments: GivenDocuments {
  private let path: String
  /// The offset of each document's last line; a document may have several lines.
  private let lines: [DocumentID: Int64]
  /// The file's length and digest.
  let sum: FileSum

  /// The number of bytes to read at once.
  private static let piece = 64 * 1024

  /// Reads the file once and records the offset of each answer.
  ///
  /// - Throws: ``LarderError`` when a line is malformed; `Errno` when the file cannot be read.
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

  /// The answer to the request for a document; nil when the plan has none.
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
