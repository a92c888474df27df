import ArgumentParser
import Transport

/// How much room a run leaves on the disk.
struct RoomOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Take no more once the cache's disk has less room than this, such as 5G. (default: fill it)",
      valueName: "size"
    ),
    transform: SizeArgument.read
  )
  var keepFree: SizeArgument?

  /// The room to be left on the disk of a cache; nil when none is asked for.
  func reserve(of cache: String) -> DiskReserve? {
    keepFree.map { DiskReserve($0.bytes, of: cache) }
  }

  /// Why a run took no more, when the room is what ended it.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - isUnfinished: Whether the run left anything undone.
  /// - Returns: One sentence; nil when there is room.
  func shortage(of cache: String, isUnfinished: Bool) -> String? {
    guard isUnfinished, let keepFree, let free = DiskReserve.free(of: cache),
      free < keepFree.bytes
    else { return nil }
    return
      "cannot take more pictures: the disk of \(cache) has \(Quantities.bytes(free)) free, and "
      + "--keep-free leaves \(Quantities.bytes(keepFree.bytes)); free some and run again"
  }
}
