import Cache
import Transport

/// What a picture's row says, as headers that a store keeps with the object, and back.
///
/// A store keeps 2 KiB of such headers. A URL that does not fit is left out, and so is what the origin said: the picture
/// is found by whoever knows its URL, and asked for anew.
enum KeptHeaders {
  private static let prefix = "x-amz-meta-larder-"
  /// How much of the 2 KiB is used.
  private static let room = 1900
  /// The most of it that a URL may take.
  private static let urlRoom = 1200

  /// The headers of a picture.
  static func headers(of entry: PictureEntry) -> Headers {
    var headers = Headers()
    headers.append("Content-Type", entry.type?.mediaType ?? "application/octet-stream")
    var used = 0
    func add(_ name: String, _ value: String, most: Int = room) {
      let size = prefix.utf8.count + name.utf8.count + value.utf8.count
      guard !value.isEmpty, value.utf8.count <= most, used + size <= room else { return }
      used += size
      headers.append(prefix + name, value)
    }
    add("sha256", Hexadecimal.text(entry.sha256 ?? []))
    let times = [entry.fetched, entry.checked, entry.expiry].map { "\($0?.seconds ?? 0)" }
    add("times", times.joined(separator: "."))
    add("url", StoreText.encoded(entry.identity), most: urlRoom)
    add("response", StoreText.encoded(entry.response ?? ""))
    return headers
  }

  /// The row that was put with an object.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - headers: What the store says of it.
  ///   - whole: How long it is, when the headers are of a part of it.
  /// - Returns: The row with its stamp; without a SHA-256 when larder did not put it, without a URL when that did not
  ///   fit.
  static func entry(
    at path: String,
    _ headers: Headers,
    whole: ByteCount? = nil
  ) -> PictureEntry {
    func value(_ name: String) -> String? { headers[prefix + name] }
    let url = value("url").map(StoreText.decoded) ?? ""
    var entry = PictureEntry(id: PictureID(url: url), url: url)
    let size = whole?.count ?? headers["Content-Length"].flatMap { Int64($0) } ?? 0
    entry.bytes = ByteCount(size)
    entry.stamp = stamp(tag: StoreReply.tag(headers["ETag"] ?? ""), bytes: size)
    guard let digest = value("sha256").flatMap(Hexadecimal.bytes), digest.count == 32,
      let type = headers["Content-Type"].flatMap({ PictureType(mediaType: $0) })
    else { return entry }
    entry.sha256 = digest
    entry.type = type
    entry.response = value("response").map(StoreText.decoded)
    let times = (value("times") ?? "").split(separator: ".").map { Int64($0) ?? 0 }
    if times.count == 3 {
      entry.fetched = UnixTime(times[0])
      entry.checked = UnixTime(times[1])
      // Freshness comes with what the origin said, or not at all.
      if entry.response != nil { entry.expiry = UnixTime(times[2]) }
    }
    return entry
  }

  /// What tells one version of an object from another.
  static func stamp(tag: String, bytes: Int64) -> FileStamp {
    FileStamp(
      inode: ContentDigest.number(of: Array(tag.utf8)),
      bytes: ByteCount(bytes),
      modified: UnixTime(0)
    )
  }
}
