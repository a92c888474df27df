import Cache
import FoundationEssentials
import Pipeline
import SystemPackage

/// What the manifests of a run say of its pictures, found by identity.
///
/// The lines stay in their files: memory holds 16 bytes a picture.
final class SettledManifests: SettledPictures {
  /// Where the line of a picture is.
  private struct Place {
    let id: PictureID
    /// The shard, and in the low 40 bits the line's offset.
    let line: UInt64

    init(_ id: PictureID, shard: Int, offset: Int64) {
      self.id = id
      line = UInt64(shard) << 40 | UInt64(offset)
    }

    var shard: Int { Int(line >> 40) }
    var offset: Int64 { Int64(line & (1 << 40 - 1)) }
  }

  private let planned: PlannedRun
  private let layout: CacheLayout
  /// By identity.
  private let places: [Place]
  /// The requests that the shards made.
  let requests: Int

  /// How long a line is thought to be.
  private static let piece = 2048

  /// Reads all manifests and demands that they are whole, of this plan, and that their files are as they say.
  ///
  /// - Parameters:
  ///   - planned: The plan.
  ///   - cache: The cache that the shards filled.
  ///   - keeper: What keeps the pictures in place of the cache's folder, if anything does.
  ///   - isRead: Whether every file's bytes are read and compared.
  /// - Throws: ``ShardError``; ``CacheError`` when a file cannot be read.
  init(
    _ planned: PlannedRun,
    cache: String,
    keeper: (any PictureKeeping)?,
    reading isRead: Bool
  ) throws {
    let layout = try CacheLayout(creating: cache, keeper: keeper)
    var places: [Place] = []
    places.reserveCapacity(planned.plan.urls)
    var lost: (first: String, count: Int)?
    var requests = 0
    for shard in planned.plan.shards.indices {
      let trailer = try ShardManifest.read(shard, of: planned) { line in
        let entry = line.picture.entry
        places.append(Place(entry.id, shard: shard, offset: line.offset))
        guard try layout.confirmed(entry, read: isRead) == nil else { return }
        lost = (lost?.first ?? entry.name.path, (lost?.count ?? 0) + 1)
      }
      requests += trailer?.requests ?? 0
    }
    if let lost {
      let others = lost.count == 1 ? "" : " and \(lost.count - 1) more"
      throw ShardError(
        .lost,
        "cannot merge \(planned.name): \(keeper?.name ?? cache)/\(lost.first)\(others) is not as its shard left "
          + "it; plan anew, what is whole is not fetched again"
      )
    }
    places.sort { $0.id < $1.id }
    self.planned = planned
    self.layout = layout
    self.places = places
    self.requests = requests
    for (one, other) in zip(places, places.dropFirst()) where one.id == other.id {
      let url = try picture(at: one, in: try open(one.shard)).entry.url
      throw ShardError(
        .data,
        "cannot merge \(planned.name): \(url) is in two manifests; plan anew"
      )
    }
  }

  func has(_ id: PictureID) -> Bool { place(of: id) != nil }

  func mayHave(_ path: String) -> Bool {
    guard let ids = PictureName.ids(at: path) else { return false }
    let first = places.partition { $0.id >= ids.lowerBound }
    return first < places.count && places[first].id <= ids.upperBound
  }

  func pictures(_ ids: [PictureID]) throws(CacheError) -> [PictureID: SettledPicture] {
    let wanted = ids.compactMap(place).sorted { $0.line < $1.line }
    var found: [PictureID: SettledPicture] = [:]
    var start = 0
    do {
      while start < wanted.count {
        let shard = wanted[start].shard
        let end = wanted[start...].firstIndex { $0.shard != shard } ?? wanted.count
        let file = try open(shard)
        defer { try? file.close() }
        for place in wanted[start..<end] { found[place.id] = try picture(at: place, in: file) }
        start = end
      }
    } catch let error as CacheError {
      throw error
    } catch {
      throw CacheError(.disk, "cannot read a manifest in \(planned.name): \(error)")
    }
    return found
  }

  private func open(_ shard: Int) throws -> FileDescriptor {
    let path = FilePath("\(planned.folder)/\(ShardPlan.manifestName(shard))")
    return try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
  }

  /// The picture of a line, as its file is.
  private func picture(at place: Place, in file: FileDescriptor) throws -> SettledPicture {
    var count = Self.piece
    var text = try file.bytes(from: place.offset, count: count)
    while !text.contains(10), text.count == count {
      count *= 4
      text = try file.bytes(from: place.offset, count: count)
    }
    let line = Data(text.prefix { $0 != 10 })
    guard var picture = try JSONDecoder().decode(PictureRow.self, from: line).settled else {
      throw Errno.ioError
    }
    // Where a second run of the shard came between, the row is that of the file that is there. What went since it was
    // looked at, the commit of the row notices.
    picture.entry = try layout.confirmed(picture.entry, read: false) ?? picture.entry
    return picture
  }

  private func place(of id: PictureID) -> Place? {
    let first = places.partition { $0.id >= id }
    guard first < places.count, places[first].id == id else { return nil }
    return places[first]
  }
}

extension Array {
  /// The place of the first element that a property holds for, which holds for all behind it.
  fileprivate func partition(_ holds: (Element) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if holds(self[middle]) {
        range = range.lowerBound..<middle
      } else {
        range = middle + 1..<range.upperBound
      }
    }
    return range.lowerBound
  }
}

extension FileDescriptor {
  /// The bytes from an offset on, fewer where the file ends.
  func bytes(from offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let more = try bytes.withUnsafeMutableBytes {
        try read(
          fromAbsoluteOffset: offset + Int64(filled),
          into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...])
        )
      }
      guard more > 0 else { break }
      filled += more
    }
    return Array(bytes.prefix(filled))
  }
}
