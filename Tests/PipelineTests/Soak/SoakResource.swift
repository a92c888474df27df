import Support

/// The content of a URL, its caching behaviour, and its ``SoakMood`` during a run.
struct SoakResource: Sendable {
  /// A redirect to another URL.
  struct Move: Sendable {
    var status: Int
    var url: String
  }

  /// The validators that the resource sends.
  enum Validating: Sendable { case nothing, strong, weak, date, both }

  /// The freshness that the resource declares.
  enum Lasting: Sendable {
    case silent
    case seconds(Int64)
    case expires(Int64)
    case expired
    case noCache
    case noStore
    case everythingVaries
    case excusing(Int64)
    /// Private freshness, with a Vary on a field that larder always sends with the same value.
    case personal(Int64)
  }

  var content: SoakContent
  var version = 1
  var modified: Int64
  /// Whether its validators stand for this content only.
  var isHonest = true
  var moved: Move?
  private(set) var mood = SoakMood.well
  /// The latest Last-Modified that a shortened listing has used.
  private var shortDate: Int64 = -1
  private var validating: Validating
  private var lasting: Lasting
  /// The error of its `Date` in seconds; nil sends no date.
  private var dateOffset: Int64?
  private var age: Int64?

  /// A resource with random caching behaviour.
  init(
    _ content: SoakContent,
    at time: Int64,
    _ random: inout SplitMix64,
    lies: Set<SoakLie>
  ) {
    self.content = content
    modified = time - Int64.random(in: 0...500_000, using: &random)
    validating = .nothing
    lasting = .silent
    learn(&random, lies)
  }

  /// Chooses other caching behaviour.
  private mutating func learn(_ random: inout SplitMix64, _ lies: Set<SoakLie>) {
    validating = random.pick([
      (.nothing, weight: 2), (.strong, weight: 4), (.weak, weight: 2), (.date, weight: 3),
      (.both, weight: 3),
    ])
    let seconds = random.pick([(60, weight: 1), (3_600, weight: 3), (86_400, weight: 2)])
    lasting = random.pick([
      (.silent, weight: 4), (.seconds(Int64(seconds)), weight: 8),
      (.expires(Int64(seconds)), weight: 3), (.expired, weight: 1), (.noCache, weight: 2),
      (.noStore, weight: 1), (.everythingVaries, weight: lies.contains(.varying) ? 1 : 0),
      (.excusing(Int64(seconds)), weight: 1), (.personal(Int64(seconds)), weight: 1),
    ])
    dateOffset = random.pick([
      (0, weight: 12), (-40, weight: 1), (90, weight: 1),
      (nil, weight: lies.contains(.undated) ? 2 : 0),
    ])
    age = random.happens(0.1) ? Int64.random(in: 0...4_000, using: &random) : nil
  }

  /// Changes pictures and details at random; listings change with their sections.
  mutating func live(_ random: inout SplitMix64, at time: Int64, lies: Set<SoakLie>) {
    if random.happens(0.004) { learn(&random, lies) }
    switch content {
    case .picture where random.happens(0.03):
      let name = "\(random.next())"
      // Some pictures get the bytes of others.
      let isShared = random.happens(0.2)
      change(to: .painting(isShared ? "shared" : name, 1), at: time, &random, lies: lies)
    case .detail(var detail) where random.happens(0.03):
      detail.text += "."
      if random.happens(0.5) { detail.pictures.shuffle(using: &random) }
      if random.happens(0.3) { detail.pictures = Array(detail.pictures.dropLast()) }
      change(to: .detail(detail), at: time, &random, lies: lies)
    default: break
    }
  }

  /// Changes the content, with or without new validators.
  mutating func change(
    to content: SoakContent,
    at time: Int64,
    _ random: inout SplitMix64,
    lies: Set<SoakLie>
  ) {
    guard content != self.content else { return }
    self.content = content
    if lies.contains(.quietChanges), random.happens(0.05) {
      isHonest = false
      return
    }
    version += 1
    // No date may stand for two contents, even if the clock is set back.
    modified = max(time, modified + 1, shortDate + 1)
    isHonest = true
  }

  /// Sets the mood for one run.
  mutating func take(_ mood: SoakMood, at time: Int64) {
    self.mood = mood
    if case .short = mood { shortDate = max(shortDate, time) }
    if mood.sharesValidators(with: self, at: time) { isHonest = false }
  }

  /// The header fields of an answer.
  func fields(at time: Int64) -> SoakFields {
    var fields = SoakFields()
    fields.date = dateOffset.map { time + $0 }
    fields.age = age
    switch validating {
    case .nothing: break
    case .strong: fields.tag = "\"v\(version)\""
    case .weak: fields.tag = "W/\"v\(version)\""
    case .date: fields.modified = modified
    case .both:
      fields.tag = "\"v\(version)\""
      fields.modified = modified
    }
    switch lasting {
    case .silent: break
    case .seconds(let seconds): fields.control = SoakFields.Control(maxAge: seconds)
    case .expires(let seconds): fields.expires = time + seconds
    case .expired: fields.expires = .some(nil)
    case .noCache: fields.control = SoakFields.Control(maxAge: 600, noCache: true)
    case .noStore: fields.control = SoakFields.Control(noStore: true)
    case .everythingVaries:
      fields.control = SoakFields.Control(maxAge: 3_600)
      fields.vary = "*"
    case .personal(let seconds):
      fields.control = SoakFields.Control(
        maxAge: seconds,
        others: ["private", "must-revalidate", "s-maxage=1"]
      )
      fields.vary = "Accept-Encoding, User-Agent"
    case .excusing(let seconds):
      fields.control = SoakFields.Control(maxAge: 60, staleIfError: seconds)
    }
    return fields
  }
}

/// The behaviour of a URL throughout one run.
enum SoakMood: Hashable, Sendable {
  /// No fault.
  case well
  /// Only this status.
  case status(Int)
  /// The connection breaks before the first byte.
  case reset
  /// The body ends early.
  case cut
  /// A Content-Length that is greater, or smaller, than the body.
  case longer
  case shorter
  /// This text instead of the body.
  case garbage(String)
  /// A listing of one item without its title's member, with the validators of the right listing.
  case renamed
  /// A redirect to itself.
  case loop
  /// A redirect to a missing URL.
  case nowhere
  case otherTag
  case blind304
  /// A listing shortened to this many items.
  case short(Int)
  /// An answer to a range that does not continue the held bytes.
  case wrongRange

  /// Whether the faulty answer has the validators of the right one, so that these stand for two
  /// contents.
  func sharesValidators(with resource: SoakResource, at time: Int64) -> Bool {
    switch self {
    case .renamed: true
    case .short: resource.modified == time
    default: false
    }
  }

  static func chosen(
    _ random: inout SplitMix64,
    for content: SoakContent?,
    lies: Set<SoakLie>
  ) -> SoakMood {
    var moods: [(SoakMood, weight: Int)] = [
      (.status(500), weight: 3), (.status(503), weight: 3), (.status(429), weight: 1),
      (.status(403), weight: 1), (.reset, weight: 3), (.cut, weight: 5), (.longer, weight: 2),
      (.shorter, weight: 1), (.loop, weight: 1), (.wrongRange, weight: 2),
    ]
    if lies.contains(.otherTag) { moods.append((.otherTag, weight: 3)) }
    if lies.contains(.blind304) { moods.append((.blind304, weight: 2)) }
    switch content {
    case .picture, nil:
      moods += [(.status(404), weight: 3), (.status(410), weight: 1), (.nowhere, weight: 1)]
      moods.append((.garbage("<!doctype html><title>Oops</title>"), weight: 3))
      moods.append((.garbage(""), weight: 1))
    case .detail:
      if lies.contains(.missingDetails) {
        moods += [(.status(404), weight: 4), (.nowhere, weight: 1)]
      }
      if lies.contains(.garbled) {
        for text in ["<html></html>", "", "null", "{} {}", "[]", "{\"id\": \"n1\"}", "{\"id\""] {
          moods.append((.garbage(text), weight: 1))
        }
      }
    case .listing:
      if lies.contains(.missingPages) { moods.append((.status(404), weight: 1)) }
      if lies.contains(.garbled) {
        let texts = [
          "<html></html>", "", "null", "{\"items\": null}", "{\"items\": {}}", "{\"data\": []}",
          "{\"items\": [", "[] []",
          "{\"items\": [{\"id\": \"a\", \"title\": \"b\"}]} {}",
        ]
        for text in texts { moods.append((.garbage(text), weight: 1)) }
        moods.append((.renamed, weight: 2))
      }
      if lies.contains(.shrinking) {
        for count in 0...3 { moods.append((.short(count), weight: 1)) }
      }
    }
    return random.pick(moods)
  }
}
