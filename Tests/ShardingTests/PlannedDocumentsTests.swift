import Base
import Support
import Testing
import Transport

@testable import Cache
@testable import Sharding

/// The stored answers for sections and details in a plan's folder, which somebody else may have
/// written.
struct PlannedDocumentsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func documents(_ text: String) throws -> PlannedDocuments {
    try folder.write(text, to: "documents.log")
    return try PlannedDocuments(folder.path("documents.log"))
  }

  private func line(_ url: String, bytes: Int?) -> String {
    let body = bytes.map { #","bytes":\#($0)"# } ?? ""
    return #"{"url":"\#(url)","reader":"r","attempts":1\#(body)}"# + "\n"
  }

  private func body(_ url: String, in documents: PlannedDocuments, most: ByteCount = 100) throws
    -> String?
  {
    var body: [UInt8] = []
    let id = DocumentID(url: url, reader: "r")
    let answer = try documents.answer(to: id, most: most) { body += $0 }
    return answer.map { _ in String(decoding: body, as: UTF8.self) }
  }

  @Test
  func `each planned document has its body, the last one of two, and any other URL has none`()
    throws
  {
    let documents = try documents(
      line("a", bytes: 3) + "{}\n\n" + line("b", bytes: nil) + line("c", bytes: 0) + "\n"
        + line("a", bytes: 2) + "[]\n"
    )

    #expect(try body("a", in: documents) == "[]")
    #expect(try body("b", in: documents) == "")
    #expect(try body("c", in: documents) == "")
    #expect(try body("d", in: documents) == nil)
  }

  @Test(arguments: [#"{"url":"a","reader":"r","attempts":1,"bytes":-5}"#, "{}", "x", #""a""#])
  func `an invalid line is refused`(_ line: String) throws {
    let error = #expect(throws: LarderError.self) { try documents(line + "\n") }

    #expect(error?.code == .data)
  }

  @Test func `a missing or too long body is an error`() throws {
    let documents = try documents(line("a", bytes: Int.max - 1))

    let long = #expect(throws: TransferFailure.self) { try body("a", in: documents) }
    #expect(long?.reason == .tooLarge)
    #expect(throws: (any Error).self) { try body("a", in: documents, most: ByteCount(Int64.max)) }
  }

  @Test func `a plan of an older larder is refused, with advice`() throws {
    let sharded = try ShardedShop(SampleShop(sections: 1, items: 1))
    try sharded.plan(1)
    let plan = try sharded.folder.text("plan/plan.json")
    try sharded.folder.write(
      plan.replacing("\"format\":2", with: "\"format\":1"),
      to: "plan/plan.json"
    )

    let error = #expect(throws: LarderError.self) { try sharded.planned }

    #expect(error?.code == .data)
    #expect(
      error?.description.contains(
        "it has format version 1, and this larder reads version 2; make a new plan"
      )
        == true
    )
  }
}
