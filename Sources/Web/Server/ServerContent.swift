import Cache
import Imaging
import Pipeline
import Transport

/// What a server serves.
package struct ServerContent: Sendable {
  /// The cache's path.
  let cache: String
  /// What keeps the pictures in place of the cache's folder, if anything does.
  let keeper: (any PictureKeeping)?
  /// The catalog.
  let shelf: CatalogShelf
  /// The sizes in which squares can be had, in pixels a side.
  let squares: [Int]
  /// Where squares are made.
  let pictures: any PictureWorking
  /// The pages; nil for none.
  let pages: PageSource?
  /// What fetches pictures that are not held; nil when nothing does.
  let pulls: Pulls?
  /// Where they wait to be kept.
  let room: ServingRoom?
  /// Why nothing is fetched although something is there to do it; nil when that is not so.
  package let obstacle: CacheError?
  /// The wall clock.
  let clock: @Sendable () -> UnixTime
  /// Told of each request once it was answered.
  let log: @Sendable (RequestRecord) -> Void

  /// What fetches pictures, given the room that they go into.
  package typealias Pulling = (_ room: String) -> PicturePull

  /// What a server serves.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  ///   - shelf: The catalog.
  ///   - squares: The sizes in which squares can be had, in pixels a side.
  ///   - pictures: Where squares are made.
  ///   - clock: The wall clock.
  ///   - pulling: What fetches pictures that are not held; nil to serve what is held alone.
  ///   - pages: Answers requests for pages; nil from it for what is no page.
  ///   - log: Told of each request once it was answered, on an event loop: it must not take its time.
  package init(
    cache: String,
    keeper: (any PictureKeeping)? = nil,
    shelf: CatalogShelf,
    squares: [Int],
    pictures: any PictureWorking = PicturesHere(),
    clock: @escaping @Sendable () -> UnixTime,
    pulling: Pulling? = nil,
    pages: (@Sendable (StoreRequest) async -> StoreAnswer?)? = nil,
    log: @escaping @Sendable (RequestRecord) -> Void = { _ in }
  ) {
    (self.cache, self.keeper) = (cache, keeper)
    self.shelf = shelf
    (self.squares, self.pictures) = (squares, pictures)
    self.pages = pages.map { PageSource($0, clock: clock) }
    self.clock = clock
    self.log = log
    guard let pulling else {
      (pulls, room, obstacle) = (nil, nil, nil)
      return
    }
    do throws(CacheError) {
      let room = try ServingRoom(in: cache)
      pulls = Pulls(cache, keeper: keeper, room: room, pull: pulling(room.path), now: clock)
      (self.room, obstacle) = (room, nil)
    } catch {
      (pulls, room, obstacle) = (nil, nil, error)
    }
  }
}
