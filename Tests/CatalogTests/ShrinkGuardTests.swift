import Testing

@testable import Catalog

/// The shrink guard, which withholds a list when too many items vanish from it at once.
struct ShrinkGuardTests {
  @Test(
    arguments: [
      // The number of held items, and of those that vanished.
      (0, 0), (1, 0), (10, 0), (10, 9), (11, 1), (20, 2), (100, 10), (1000, 100),
    ])
  func `a section of up to 10 items may change freely, and a longer one may lose a tenth`(
    held: Int,
    vanished: Int
  ) {
    #expect(!ShrinkGuard.isSuspicious(section: held, vanished: vanished))
  }

  @Test(arguments: [(11, 2), (20, 3), (40, 39), (100, 11), (1000, 101)])
  func `a list is withheld when more than a tenth of a longer section vanished`(
    held: Int,
    vanished: Int
  ) {
    #expect(ShrinkGuard.isSuspicious(section: held, vanished: vanished))
  }

  @Test(arguments: [1, 2, 10, 40, 100])
  func `a list is withheld when all items of a section of any size vanished`(_ held: Int) {
    #expect(ShrinkGuard.isSuspicious(section: held, vanished: held))
  }

  @Test(arguments: [
    (29, 29, false), (30, 3, false), (30, 4, true), (690, 69, false), (690, 70, true),
  ])
  func `a catalog of 30 items or more may lose a tenth`(
    held: Int,
    vanished: Int,
    isSuspicious: Bool
  ) {
    #expect(ShrinkGuard.isSuspicious(catalog: held, vanished: vanished) == isSuspicious)
  }

  @Test(arguments: [
    (12, 2, false), (20, 3, true), (30, 3, false), (3, 3, true), (1000, 101, true),
  ])
  func `a tenth of the details, or two, may be missing`(
    held: Int,
    missing: Int,
    isSuspicious: Bool
  ) {
    #expect(ShrinkGuard.isSuspicious(details: held, missing: missing) == isSuspicious)
  }
}
