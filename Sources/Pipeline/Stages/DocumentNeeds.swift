import Cache
import Catalog
import Transport

/// Decides which documents a run asks for, and with which condition.
///
/// The stages of a run and its plan ask it alike.
struct DocumentNeeds: Sendable {
  /// What the user named.
  let named: NamedOrigins
  /// The catalog file's headers, for named origins only.
  let credentials: Headers
  let transport: any Fetching
  /// Whether the run is unattended: nothing is then asked for before it is due.
  let onlyDue: Bool

  /// What a request for a document sends; nil for a file.
  func traits(of source: DocumentSource) -> RequestTraits? {
    RequestTraits(document: source, from: named, credentials: credentials, over: transport)
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

extension RunContext {
  /// What decides which documents are asked for.
  var needs: DocumentNeeds {
    DocumentNeeds(
      named: named,
      credentials: credentials,
      transport: transport,
      onlyDue: options.onlyDue
    )
  }
}
