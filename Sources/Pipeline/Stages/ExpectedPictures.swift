import Cache
import Transport

/// The pictures that a run asks for if its sections still name what those of the last run did.
///
/// Connections to their hosts are opened while the sections are on their way. Only pictures that are due count: a run in
/// which everything is fresh opens none.
struct ExpectedPictures: Sendable {
  private let listings: [ListingID]
  private let known: KnownPictures

  /// How many pictures are looked up at most: enough to know a run's hosts, and a few milliseconds.
  private static let most = 1024

  /// What to expect of an opened run; nil when that is nothing, or is asked for only once all sections are there.
  init?(_ opened: OpenedRun, from source: PictureSource) {
    guard case .origins = source, !opened.context.options.onlyDue else { return nil }
    listings = opened.before.compactMap(\.listing)
    known = opened.known
  }

  /// Has connections opened for what is due.
  func connect(_ context: RunContext) {
    let now = context.now()
    guard let urls = try? due(context, at: now), !urls.isEmpty else { return }
    context.transport.connect(ahead: Self.requests(for: urls, from: context.named))
  }

  /// The URLs of pictures that are due, as many as are looked up.
  private func due(_ context: RunContext, at now: UnixTime) throws -> [WebURL] {
    guard try known.mayHave({ Self.isDue($0, at: now) }) else { return [] }
    var due: Set<PictureID> = []
    for listing in listings where due.count < Self.most {
      let pictures = try context.index.pictures(listing: listing)
      due.formUnion(Self.due(among: pictures, try known.states(of: pictures), at: now))
    }
    return try context.index.pictureURLs(Array(due.prefix(Self.most))).values.compactMap {
      try? context.transport.parse($0, relativeTo: nil)
    }
  }

  /// Those of a listing's pictures that are due; one without a row has no URL that is known without its item.
  static func due(
    among pictures: [PictureID],
    _ states: [PictureID: PictureState],
    at now: UnixTime
  ) -> [PictureID] {
    pictures.filter { states[$0].map { isDue($0, at: now) } ?? false }
  }

  private static func isDue(_ state: PictureState, at now: UnixTime) -> Bool {
    state.quiet(at: now, onlyDue: false) == nil
  }

  /// What to expect of each host, the one with the most first.
  static func requests(for urls: [WebURL], from named: NamedOrigins) -> [ExpectedRequests] {
    var hosts: [HostPort: (url: WebURL, count: Int)] = [:]
    for url in urls { hosts[url.hostPort, default: (url, 0)].count += 1 }
    return hosts.values
      .sorted { ($1.count, $0.url.host, $0.url.port) < ($0.count, $1.url.host, $1.url.port) }
      .map { ExpectedRequests(Request(picture: $0.url, from: named), count: $0.count) }
  }
}
