import Imaging
import SampleStore
import Support
import Synchronization
import SystemPackage
import Testing

@testable import Pipeline

/// The square versions of pictures, which worker processes make, and their failures.
struct SquareStageTests {
  /// Fails each picture and records its name.
  private final class Failing: PictureWorking {
    private let code: ImagingError.Code
    private let seen = Mutex<Set<String>>([])

    init(_ code: ImagingError.Code) { self.code = code }

    var names: Set<String> { seen.withLock { $0 } }

    func make(
      _ order: PictureOrder,
      of input: PictureInput,
      for output: FilePath?,
      isStopped: () -> Bool
    ) throws(ImagingError) -> EncodedPicture {
      seen.withLock { _ = $0.insert(input.name) }
      throw ImagingError(code, "cannot process \(input.name): \(code.rawValue)")
    }
  }

  private func sync(
    _ shop: SampleShop,
    _ folder: TemporaryFolder,
    _ failing: Failing
  ) throws -> SyncReport.Squares {
    var options = SyncOptions()
    (options.squareSide, options.pictures) = (16, failing)
    return try #require(try shop.sync(folder, options: options).squares)
  }

  @Test func `a square that was stopped is unfinished, and made by the next run`() throws {
    let (folder, shop) = (try TemporaryFolder(), try SampleShop(sections: 1, items: 2))
    let stopped = Failing(.stopped)

    let first = try sync(shop, folder, stopped)

    #expect(first.unfinished == stopped.names.count && first.unfinished > 0)
    #expect(first.unfit == 0 && first.failures.isEmpty)
    let next = Failing(.overTime)
    #expect(try sync(shop, folder, next).unfit == first.unfinished)
    #expect(next.names == stopped.names)
  }

  @Test(arguments: [(ImagingError.Code.overTime, true), (.crashed, true), (.worker, false)])
  func `a picture that crashes its worker is not tried again, but one that got no worker is`(
    _ code: ImagingError.Code,
    _ isRemembered: Bool
  ) throws {
    let (folder, shop) = (try TemporaryFolder(), try SampleShop(sections: 1, items: 2))

    let first = try sync(shop, folder, Failing(code))
    let next = Failing(code)
    let second = try sync(shop, folder, next)

    #expect(first.failures.count == first.unfit && first.unfit > 0)
    #expect(first.failures.allSatisfy { $0.reason.hasSuffix(": \(code.rawValue)") })
    #expect(second.unfit == first.unfit)
    #expect(next.names.isEmpty == isRemembered)
  }
}
