import Base
import Testing

@testable import Cache

/// Tests of the note beside the file of an unfinished download.
struct PartialNoteTests {
  @Test
  func
    `a note is valid if its head and a line are whole, and its boot and body are the present ones`()
  {
    let body = PartialBody(url: url("a"), validator: "\"v1\"", source: url("a"), type: .png)
    let name = body.id.partialName
    let digest = [UInt8](repeating: 0xAB, count: 32)
    let head = body.note(boot: "b")
    let first = head + PartialBody.line(70_000, sha256: digest)
    let note = first + PartialBody.line(80_000, sha256: digest)

    let read = PartialBody(note: note, name: name, boot: "b")

    #expect(read?.note(boot: "b") == head)
    #expect(read?.size == 80_000 && read?.digest == String(repeating: "ab", count: 32))
    #expect(read?.noteSize == ByteCount(note.utf8.count))
    for count in 0..<note.count {
      let cut = PartialBody(note: String(note.prefix(count)), name: name, boot: "b")
      #expect(cut?.size == (count < first.count ? nil : 70_000))
      #expect(cut?.noteSize == (count < first.count ? nil : ByteCount(first.utf8.count)))
    }
    #expect(PartialBody(note: note, name: name, boot: "other") == nil)
    #expect(PartialBody(note: body.note(boot: ""), name: name, boot: "") == nil)
    #expect(PartialBody(note: note, name: "0123456789ab-1", boot: "b") == nil)
    #expect(
      PartialBody(note: note.replacing("image/png", with: "text/html"), name: name, boot: "b")
        == nil
    )
  }
}
