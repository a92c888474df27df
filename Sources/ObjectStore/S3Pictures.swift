import Base
import Cache
import Synchronization
import Transport

/// The pictures of a cache in an object store, below `PREFIX/images/`.
package final class S3Pictures: RemotePictures {
  private let store: ObjectStore

  /// The path of the pictures below the location.
  private static let folder = "images/"

  /// Uses the pictures of a store.
  ///
  /// It sends no request yet.
  package init(_ store: ObjectStore) {
    self.store = store
  }

  /// The location of the cache, such as `s3://bucket/prefix`.
  package var name: String { "\(store.location)" }

  /// Uploads a picture.
  ///
  /// If the upload is repeated, nothing changes.
  package func put(
    _ entry: PictureEntry,
    _ file: OpenFile,
    completion: @escaping @Sendable (Result<FileStamp, LarderError>) -> Void
  ) {
    let path = entry.name.path
    let headers = S3Headers.headers(of: entry)
    let size = Int(entry.bytes.count)
    do throws(LarderError) {
      let body = try file.bytes(0..<size)
      store.ask(.put, path, headers: headers, body: body, doing: "write") { result in
        completion(result.map { S3Headers.stamp(tag: $0.tag, bytes: Int64(size)) })
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Lists the pictures.
  package func objects() throws(LarderError) -> [String: RemoteObject] {
    var objects: [String: RemoteObject] = [:]
    try store.forEach(below: Self.folder) { object in
      guard let path = store.location.path(of: object.key) else { return }
      objects[path] = RemoteObject(
        stamp: S3Headers.stamp(tag: object.tag, bytes: object.bytes),
        changed: UnixTime(rfc3339: object.changed) ?? .distantFuture
      )
    }
    return objects
  }

  /// Reads the rows of pictures from the metadata of their objects, with many HEAD requests at the same time.
  package func rows(at paths: [String]) throws(LarderError) -> [String: PictureEntry] {
    let rows = Mutex<[String: PictureEntry]>([:])
    try store.each(paths) { path, done in
      store.ask(.head, path, doing: "read") { result in
        if case .success(let reply) = result {
          let entry = S3Headers.entry(reply.head.headers)
          rows.withLock { $0[path] = entry }
        }
        done(result.map { _ in })
      }
    } failed: {
      $0.code != .objectMissing
    }
    return rows.withLock { $0 }
  }

  /// Downloads a picture.
  package func read(_ path: String, into sink: any BodySink) throws(LarderError) -> FileStamp? {
    try store.read(path, into: sink).map { response in
      S3Headers.stamp(
        tag: S3Reply.tag(response.head.headers["ETag"] ?? ""),
        bytes: response.bodyBytes.count
      )
    }
  }

  /// Downloads a part of a picture with a `Range` request.
  package func part(
    _ range: Range<Int>,
    of path: String,
    completion: @escaping @Sendable (Result<RemotePart?, LarderError>) -> Void
  ) {
    let name = store.name(path)
    let headers: Headers = ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"]
    store.ask(.get, path, headers: headers, doing: "read") { result in
      switch result {
      case .success(let reply):
        let part = Self.part(range, reply)
        guard let part else {
          let words = "cannot read \(name): the store returned another part than requested"
          return completion(.failure(LarderError(.disk, words)))
        }
        completion(.success(part))
      case .failure(let error):
        completion(error.code == .objectMissing ? .success(nil) : .failure(error))
      }
    }
  }

  /// The requested part of a reply; nil if the reply has another range of bytes.
  private static func part(_ range: Range<Int>, _ reply: ObjectStore.Reply) -> RemotePart? {
    guard let place = reply.head.headers["Content-Range"].flatMap(ContentRange.init),
      Int(place.bytes.lowerBound.count) == range.lowerBound,
      reply.body.count == range.count, let whole = place.whole
    else { return nil }
    return RemotePart(
      bytes: reply.body,
      entry: S3Headers.entry(reply.head.headers, whole: whole)
    )
  }

  /// Removes pictures.
  package func remove(_ paths: [String]) throws(LarderError) {
    try store.remove(paths)
  }
}

/// Converts the row of a picture to and from header fields such as `x-amz-meta-larder-sha256`, which the store keeps
/// with the object.
///
/// S3 keeps at most 2 KiB of such fields. If the URL or the caching fields of the origin do not fit, they are left
/// out. Without its URL, a picture is found by its file name. Without the caching fields, it counts as stale.
enum S3Headers {
  private static let prefix = "x-amz-meta-larder-"
  /// The maximum number of bytes that larder uses of the 2 KiB.
  private static let mostBytes = 1900
  /// The maximum length of a URL in bytes.
  ///
  /// A longer URL is left out.
  private static let mostOfURL = 1200

  /// The header fields with which a picture is uploaded.
  static func headers(of entry: PictureEntry) -> Headers {
    var headers = Headers()
    headers.append("Content-Type", entry.type?.mediaType ?? "application/octet-stream")
    var used = 0
    func add(_ name: String, _ value: String, most: Int = mostBytes) {
      let size = prefix.utf8.count + name.utf8.count + value.utf8.count
      guard !value.isEmpty, value.utf8.count <= most, used + size <= mostBytes else { return }
      used += size
      headers.append(prefix + name, value)
    }
    add("sha256", Hexadecimal.text(entry.sha256 ?? []))
    let times = [entry.fetched, entry.checked, entry.expiry].map { "\($0?.seconds ?? 0)" }
    add("times", times.joined(separator: "."))
    add("url", PercentEncoding.escaped(entry.identity), most: mostOfURL)
    add("response", PercentEncoding.escaped(entry.response ?? ""))
    return headers
  }

  /// The row that was uploaded together with an object.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the store's reply.
  ///   - whole: The size of the object if the reply has only a part of it; otherwise nil.
  /// - Returns: The row with its stamp. If larder did not upload the object, the row has no SHA-256. If the URL did
  ///   not fit, the row has an empty URL.
  static func entry(_ headers: Headers, whole: ByteCount? = nil) -> PictureEntry {
    func value(_ name: String) -> String? { headers[prefix + name] }
    let url = value("url").map { PercentEncoding.lenientText($0) } ?? ""
    var entry = PictureEntry(id: PictureID(url: url), url: url)
    let size = whole?.count ?? headers["Content-Length"].flatMap { Int64($0) } ?? 0
    entry.bytes = ByteCount(size)
    entry.stamp = stamp(tag: S3Reply.tag(headers["ETag"] ?? ""), bytes: size)
    guard let digest = value("sha256").flatMap(Hexadecimal.bytes), digest.count == 32,
      let type = headers["Content-Type"].flatMap({ PictureType(mediaType: $0) })
    else { return entry }
    entry.sha256 = digest
    entry.type = type
    entry.response = value("response").map { PercentEncoding.lenientText($0) }
    let times = (value("times") ?? "").split(separator: ".").map { Int64($0) ?? 0 }
    if times.count == 3 {
      entry.fetched = UnixTime(times[0])
      entry.checked = UnixTime(times[1])
      // Without the caching fields of the origin, the picture counts as stale.
      if entry.response != nil { entry.expiry = UnixTime(times[2]) }
    }
    return entry
  }

  /// The stamp of one version of an object.
  ///
  /// Its `inode` is a number derived from the entity-tag.
  static func stamp(tag: String, bytes: Int64) -> FileStamp {
    FileStamp(
      inode: ContentDigest.number(of: Array(tag.utf8)),
      bytes: ByteCount(bytes),
      modified: UnixTime(0)
    )
  }
}
