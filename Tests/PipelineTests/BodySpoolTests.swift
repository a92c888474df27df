import Base
import Cache
import Catalog
import Foundation
import Glibc
import Support
import Testing

@testable import Pipeline

/// Tests of ``BodySpool``, which moves a body from memory to a file when the body becomes large.
struct BodySpoolTests {
  private static let most = 100

  private static func body(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
  }

  /// Passes a body through a spool in pieces of the given size; `makeFile` makes the spool's file.
  private func spool(_ body: [UInt8], pieces: Int, _ makeFile: BodySpool.MakingFile?)
    -> DocumentBody
  {
    var spool = BodySpool(mostInMemory: Self.most, makeFile: makeFile)
    for start in stride(from: 0, to: body.count, by: pieces) {
      spool.append(Array(body[start...].prefix(pieces)))
    }
    return spool.take()
  }

  private func expect(_ spooled: DocumentBody, is body: [UInt8], inMemory: Bool) throws {
    #expect(spooled.count == body.count)
    #expect(try spooled.whole() == body)
    #expect(spooled.digest == ContentDigest.number(of: body))
    #expect((spooled.inMemory == body) == (inMemory || body.isEmpty))
    var pieces: [UInt8] = []
    try spooled.forEachPiece { pieces += $0 }
    #expect(pieces == body)
    for range in [0..<body.count, 0..<body.count / 2, body.count / 3..<body.count] {
      var copy = [UInt8](repeating: 0, count: range.count)
      #expect(
        copy.withUnsafeMutableBytes { spooled.copy(range, to: $0) } && copy == Array(body[range])
      )
    }
  }

  /// A file in memory that cannot grow beyond a size.
  ///
  /// It is made with memfd_create(2) and a seal of fcntl(2).
  private static func file(ofAtMost room: Int) -> Int32 {
    typealias Making = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
    let (isClosedOnExec, mayBeSealed): (UInt32, UInt32) = (1, 2)
    let (addSeals, againstGrowth): (Int32, Int32) = (1033, 4)
    // SAFETY: memfd_create(2) takes a name and flags, and returns a descriptor. It does not keep the name.
    let make = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: Making.self) }
    let file = make?("full", isClosedOnExec | mayBeSealed) ?? -1
    ftruncate(file, off_t(room))
    _ = fcntl(file, addSeals, againstGrowth)
    return file
  }

  @Test(arguments: [0, 1, 99, 100, 101, 199, 200, 201, 1000], [1, 7, 100, 350])
  func `a body reads back unchanged, from memory or from a file`(count: Int, pieces: Int) throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path + "/cache")
    let body = Self.body(count)

    let inFile = spool(body, pieces: pieces) { () throws(LarderError) in
      try OpenFile(unnamedIn: layout)
    }
    try expect(inFile, is: body, inMemory: count <= Self.most)
    try expect(spool(body, pieces: pieces, nil), is: body, inMemory: true)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/cache/partial") == []
    )
  }

  @Test func `when no file can be created the body stays in memory`() throws {
    let body = Self.body(1000)

    let spooled = spool(body, pieces: 10) { () throws(LarderError) in
      throw LarderError(.diskFull, "no space left")
    }

    try expect(spooled, is: body, inMemory: true)
  }

  @Test(arguments: [0, 50, 110, 250, 999])
  func `a disk that becomes full in the middle of a body loses none of its bytes`(room: Int) throws
  {
    let body = Self.body(1000)

    let spooled = spool(body, pieces: 10) { () throws(LarderError) in
      // A file that can grow only up to `room`.
      OpenFile("memory", descriptor: Self.file(ofAtMost: room))
    }

    try expect(spooled, is: body, inMemory: true)
  }

  @Test func `an unreadable file is an error, never a shorter body`() throws {
    let body = Self.body(1000)
    let folder = try TemporaryFolder()
    let file = open(try folder.write("", to: "body"), O_RDWR | O_CLOEXEC)
    let spooled = spool(body, pieces: 10) { () throws(LarderError) in
      OpenFile("memory", descriptor: dup(file))
    }

    ftruncate(file, 500)

    #expect(throws: LarderError.self) { try spooled.whole() }
    #expect(throws: LarderError.self) { try spooled.forEachPiece { _ in } }
    var copy = [UInt8](repeating: 0, count: 200)
    #expect(!copy.withUnsafeMutableBytes { spooled.copy(400..<600, to: $0) })
    #expect(throws: CatalogError.self) {
      try spooled.decoded { body throws(CatalogError) in body.count }
    }
    close(file)
  }

  @Test func `a restarted body contains only its second attempt`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path + "/cache")
    var spool = BodySpool(mostInMemory: Self.most) { () throws(LarderError) in
      try OpenFile(unnamedIn: layout)
    }

    spool.append(Self.body(1000))
    spool.removeAll()
    spool.append(Array(Self.body(500).reversed()))

    try expect(spool.take(), is: Self.body(500).reversed(), inMemory: false)
    #expect(try spool.take().whole() == [])
  }
}
