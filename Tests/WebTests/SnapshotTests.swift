import Base
import Cache
import Support
import Testing

@testable import Web

/// The catalog that a server shows, as of one state of the index.
struct SnapshotTests {
  @Test func `a picture that the catalog does not show is looked up once in a snapshot`() throws {
    let folder = try TemporaryFolder()
    let cache = folder.path("cache")
    let index = try Index(CacheLayout(creating: cache))
    let catalog = try index.catalog(named: "shop", currency: "KRW")
    let run = try index.beginRun(catalog: catalog.id, at: 1)
    try index.endRun(run, at: 2, outcome: "complete", report: [], sections: [])
    let counter = IndexChangeCounter(cache: cache)
    let (snapshot, other) = (
      try CatalogSnapshot(cache, "shop", counter), try CatalogSnapshot(cache, "shop", counter)
    )
    let url = "https://shop.example/a.jpg"
    let picture = PictureEntry(id: PictureID(url: url), url: url)

    #expect(try !snapshot.shows(picture))

    #expect(snapshot.unknown[picture.identity] != nil)
    #expect(other.unknown[picture.identity] == nil)
  }
}
