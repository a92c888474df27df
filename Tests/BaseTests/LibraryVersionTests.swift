import Base
import Testing

struct LibraryVersionTests {
  @Test(arguments: [
    (LibraryVersion(7, 87, 0), true), (LibraryVersion(7, 88, 1), true),
    (LibraryVersion(8, 0, 0), true), (LibraryVersion(7, 100, 0), true),
    (LibraryVersion(7, 86, 9), false), (LibraryVersion(6, 99, 99), false),
  ])
  func `versions are compared by the first number that differs`(
    _ found: LibraryVersion,
    _ isEnough: Bool
  ) {
    let needed = LibraryVersion(7, 87, 0)

    #expect((found.shortcoming(of: "libcurl", needed: needed) == nil) == isEnough)
  }

  @Test func `an error for an old library names the version needed`() {
    #expect(
      LibraryVersion(7, 74, 0).shortcoming(of: "libcurl", needed: LibraryVersion(7, 87, 0))
        == "libcurl 7.74.0 is too old: larder needs 7.87.0 or later; update the system's package"
    )
  }

  @Test func `versions are read as libcurl and SQLite pack them`() {
    #expect(LibraryVersion(bits: 0x075801) == LibraryVersion(7, 88, 1))
    #expect(LibraryVersion(thousands: 3_040_001) == LibraryVersion(3, 40, 1))
    #expect(LibraryVersion(thousands: 3_033_000).description == "3.33.0")
  }
}
