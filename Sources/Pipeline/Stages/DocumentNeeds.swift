import Cache
import Catalog
import Transport

/// Decides which documents a run asks for, and with which condition.
///
/// The stages of a run and its plan ask it alike.
final class DocumentNeeds: Sendable {
  private let named: NamedOrigins
  private let credentials: Headers
  private let transport: any Fetching
  private let onlyDue: Bool
  /// What most requests send, to an origin that gets the catalog file's headers, and to any other.
  private let usual: (entrusted: RequestTraits, other: RequestTraits)

  /// Decides for one run.
  ///
  /// - Parameters:
  ///   - named: what the user named.
  ///   - credentials: the catalog file's headers, for named origins only.
  ///   - transport: how to fetch.
  ///   - onlyDue: whether the run is unattended: nothing is then asked for before it is due.
  init(named: NamedOrigins, credentials: Headers, transport: any Fetching, onlyDue: Bool) {
    self.named = named
    self.credentials = credentials
    self.transport = transport
    self.onlyDue = onlyDue
    // Any host will do: none of the fields names it.
    let anywhere = WebURL(scheme: .https, host: "_")
    var entrusting = NamedOrigins()
    entrusting.entrust(anywhere)
    usual = (
      RequestTraits(
        Request(document: anywhere, from: entrusting, credentials: credentials),
        over: transport
      ),
      RequestTraits(
        Request(document: anywhere, from: NamedOrigins(), credentials: credentials),
        over: transport
      )
    )
  }

  /// What a request for a document sends; nil for a file.
  ///
  /// The same for thousands of details: only a body and a password in the URL make it another.
  func traits(of source: DocumentSource) -> RequestTraits? {
    if case .web(let url) = source, !named.hasUserInfo(for: url) {
      return named.isEntrusted(url) ? usual.entrusted : usual.other
    }
    return RequestTraits(document: source, from: named, credentials: credentials, over: transport)
  }

  /// What is asked about a document that is due.
  ///
  /// - Parameters:
  ///   - held: what is held of it, read with the mapping in force.
  ///   - source: where it is.
  /// - Returns: ``Freshness/revalidate(_:)``, or ``Freshness/refetch`` where there is nothing to ask with.
  func question(about held: DocumentEntry?, _ source: DocumentSource) -> Freshness {
    // A POST is sent each time. (RFC 9110, section 9.3.3)
    guard source.method == .get else { return .refetch }
    return held?.condition(for: traits(of: source)).map(Freshness.revalidate) ?? .refetch
  }

  /// What to do about a section's page, or about the one document that holds all details.
  ///
  /// An unattended run asks only for what is not fresh. Whoever waits for a run wants the origin's answer in any case.
  ///
  /// - Parameters:
  ///   - held: what is held of it, read with the mapping in force.
  ///   - source: where it is.
  ///   - now: the wall clock.
  /// - Returns: What is due.
  func need(
    ofListing held: DocumentEntry?,
    _ source: DocumentSource,
    at now: UnixTime
  ) -> Freshness {
    let freshness = held?.freshness(at: now, for: traits(of: source)) ?? .refetch
    return onlyDue && freshness.isQuiet ? freshness : question(about: held, source)
  }

  /// What is done about the detail of one item.
  ///
  /// - Parameters:
  ///   - known: the detail as it is held; nil when there is none.
  ///   - held: the document that it was read from, read with the mapping in force.
  ///   - source: where that is.
  ///   - now: the wall clock.
  /// - Returns: What is due.
  func need(
    ofDetail known: DetailEntry?,
    in held: DocumentEntry?,
    _ source: DocumentSource,
    at now: UnixTime
  ) -> Freshness {
    guard let known, known.state != .failed, let held else { return .refetch }
    let freshness =
      onlyDue && known.state == .missing
      ? held.missingFreshness(at: now) : held.freshness(at: now, for: traits(of: source))
    return freshness.isQuiet ? freshness : question(about: held, source)
  }
}
