import Foundation
import Imaging
import Support
import Testing

/// The peak memory of the binary with hostile feeds and large pictures.
@Suite struct MemoryTests {
  /// Syncs two pictures with this body and these header fields.
  private func peak(_ body: [UInt8], _ fields: String) throws -> Command {
    let server = ScriptedServer { _ in
      [.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"), .bytes(body)]
    }
    defer { server.close() }
    let folder = try TemporaryFolder()
    let items = (0..<2).map {
      #"{"id": "\#($0)", "title": "\#($0)", "image": "\#(server.url("/\($0).jpg"))"}"#
    }
    _ = try folder.write("[\(items.joined(separator: ","))]", to: "list.json")
    let catalog = try folder.write(
      "name: m\ncurrency: KRW\nsections: [{key: A, title: A, url: list.json}]",
      to: "catalog.yaml"
    )
    return try Command.larder([
      "sync", catalog, "--cache", folder.path("cache"), "--allow-private-addresses", "--json",
      "--retries", "0",
    ])
  }

  @Test func `two gzip bombs of a gigabyte each take less than 64 MiB of memory`() throws {
    let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array("JFIF small".utf8) + [0xFF, 0xD9]
    let idle = try peak(picture, "")
    #expect(idle.status == 0)

    let bombs = try peak(gzipBomb(picture, zeros: 1 << 30), "Content-Encoding: gzip\r\n")

    let failures = try Document(bombs)["failures"]
    #expect(failures.count == 2)
    #expect(failures[0]["reason"].string == "too-large")
    #expect(bombs.peak - idle.peak < 64 << 10, "\(idle.peak) KiB idle, \(bombs.peak) KiB")
  }

  @Test func `a section that unpacks to a thousand times its size takes less than 64 MiB`()
    throws
  {
    func sync(_ listing: [UInt8]) throws -> Command {
      let server = ScriptedServer { _ in
        let fields = "Content-Encoding: gzip\r\nContent-Length: \(listing.count)\r\n\r\n"
        return [.send("HTTP/1.1 200 OK\r\n\(fields)"), .bytes(listing)]
      }
      defer { server.close() }
      let folder = try TemporaryFolder()
      try Data(listing).write(to: URL(filePath: folder.path("list.json.gz")))
      let catalog = try folder.write(
        """
        name: m
        currency: KRW
        sections: [{key: A, title: A, url: list.json.gz}, {key: B, title: B, url: "\(server.url("/"))"}]
        """,
        to: "catalog.yaml"
      )
      return try Command.larder([
        "sync", catalog, "--cache", folder.path("cache"), "--json", "--retries", "0",
      ])
    }
    let idle = try sync(gzipBomb(Array(#"[{"id": "1", "title": ""#.utf8), zeros: 1000))
    // The unpacked body is still below the size limit of a section.
    let bombs = try sync(gzipBomb(Array(#"[{"id": "1", "title": ""#.utf8), zeros: 300 << 20))

    let failures = try Document(bombs)["failures"]
    #expect(failures.count == 2)
    for place in 0..<2 {
      #expect(failures[place]["reason"].string == "too-large")
      #expect(failures[place]["detail"].string?.contains("200 times as large") == true)
    }
    #expect(bombs.peak - idle.peak < 64 << 10, "\(idle.peak) KiB idle, \(bombs.peak) KiB")
  }

  /// A JPEG of 4000 × 3000 pixels that repeats the same 64 rows.
  private static let photo: Result<[UInt8], any Error> = Result {
    let rows = (0..<4000 * 64).map { UInt8(truncatingIfNeeded: $0 / 40) }
    var samples = rows
    while samples.count < 4000 * 3000 { samples += samples }
    samples.removeLast(samples.count - 4000 * 3000)
    return try Bitmap(width: 4000, height: 3000, layout: .grey, samples: samples).jpeg()
  }

  @Test(arguments: [["--lossless"], [], ["--gravity", "attention"]])
  func `a crop at the photo's own size has some rows in memory, and never all`(_ how: [String])
    throws
  {
    let folder = try TemporaryFolder()
    try Data(Self.photo.get()).write(to: URL(filePath: folder.path("photo.jpg")))
    _ = try folder.write("no photo", to: "idle.jpg")
    func crop(_ name: String) throws -> Command {
      try Command.larder(["crop", folder.path(name), "--out", folder.path("out")] + how)
    }

    let idle = try crop("idle.jpg")
    let made = try crop("photo.jpg")

    // The square has 9 MB of pixels and 18 MB of coefficients.
    #expect(idle.status == 65)
    #expect(made.status == 0)
    #expect(made.peak - idle.peak < 8 << 10, "\(idle.peak) KiB idle, \(made.peak) KiB")
  }
}
