/// The effects of every rule that fired for one request, later ones over earlier ones.
struct Fault: Equatable {
  var delay = 0.0
  var status: Int?
  var retryAfter: String?
  var cut: FaultEffect.Cut?
  var reset: Int?
  var drip: Int?
  var wrongLength: Int?
  var type: String?
  var location: String?
  var body: [UInt8]?
  var headers: [HeaderField] = []
  var dropsValidators = false
  var chunked = false
  var gzip = false
  var silence: Silence?

  /// Why there is no answer at all.
  enum Silence: Equatable {
    case hang, close, reset
  }

  init(_ effects: some Sequence<FaultEffect>) {
    for effect in effects { apply(effect) }
  }

  private mutating func apply(_ effect: FaultEffect) {
    switch effect {
    case .delay(let seconds): delay += seconds
    case .status(let code, let retryAfter): (status, self.retryAfter) = (code, retryAfter)
    case .truncate(let cut): self.cut = cut
    case .reset(let bytes):
      reset = bytes
      if bytes == nil { silence = .reset }
    case .drip(let rate): drip = rate
    case .wrongLength(let delta): wrongLength = delta
    case .wrongType(let type, let body):
      self.type = type
      self.body = body ?? self.body
    case .redirect(let location, let status): (self.location, self.status) = (location, status)
    case .hang: silence = .hang
    case .body(let bytes): body = bytes
    case .header(let name, let value): headers.set(name, value)
    case .dropValidators: dropsValidators = true
    case .chunked: chunked = true
    case .closeWithoutAnswer: silence = .close
    case .gzip: gzip = true
    }
  }
}
