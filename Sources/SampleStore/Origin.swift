import Glibc
import HTTPServing
import NIOCore
import NIOHTTP1
import Synchronization

/// Decides how the store answers each request, and records requests and orders.
///
/// It can be called on any thread.
final class Origin: Sendable {
  let content: SampleContent
  let journal = RequestJournal()
  let desk: SampleOrders
  let connections = OpenConnections()
  /// The simulated link of limited bandwidth that all answers share; nil if the bandwidth is not limited.
  let link: Link?

  private let ledger: Mutex<FaultLedger>
  private let hasFaults: Atomic<Bool>
  private let clock: @Sendable () -> Double
  private let date = Mutex<(second: Int, line: ByteBuffer)>((Int.min, ByteBuffer()))

  init(
    _ content: SampleContent,
    faults: FaultScript,
    orders: OrderIntake,
    link: Link? = nil,
    clock: @escaping @Sendable () -> Double
  ) throws(SampleError) {
    self.content = content
    self.link = link
    self.clock = clock
    desk = try SampleOrders(orders)
    ledger = Mutex(FaultLedger(faults))
    hasFaults = Atomic(!faults.rules.isEmpty)
  }

  /// The fault script.
  ///
  /// When a script is set, the counts of its rules begin at 0.
  var faults: FaultScript {
    get { ledger.withLock { $0.script } }
    set {
      ledger.withLock { ledger in
        ledger = FaultLedger(newValue)
        hasFaults.store(!newValue.rules.isEmpty, ordering: .releasing)
      }
    }
  }

  /// Decides how to answer a request, and records the request before anything is sent.
  func plan(for request: IncomingRequest) -> WirePlan {
    let target = RequestTarget(request.head.uri)
    let method = request.head.method
    let fault = fault(method.rawValue, target)
    let plan: WirePlan
    let status: Int?
    if fault == nil, method == .GET, !request.isConditional, let path = target.path,
      !desk.paths.contains(path), let held = content.find(path)
    {
      var head = held.head
      head.writeImmutableBuffer(dateLine())
      head.writeImmutableBuffer(request.connectionLine)
      let ending: WirePlan.Ending = request.head.isKeepAlive ? .keepAlive : .close
      plan = WirePlan(head: head, body: held.resource.body, ending: ending)
      status = 200
    } else {
      (plan, status) = considered(request, target, fault)
    }
    journal.add(
      RequestRecord(
        method: method.rawValue,
        path: target.rawPath,
        query: target.query,
        status: status,
        bytes: plan.bodyBytes,
        head: request.head.headers
      )
    )
    return plan
  }

  private func fault(_ method: String, _ target: RequestTarget) -> Fault? {
    guard hasFaults.load(ordering: .acquiring) else { return nil }
    let path = target.path ?? target.rawPath
    return ledger.withLock { $0.fault(method: method, path: path, query: target.query) }
  }

  /// Decides how to answer any request; a plain GET of an existing resource without a fault has a faster way.
  private func considered(
    _ request: IncomingRequest,
    _ target: RequestTarget,
    _ fault: Fault?
  ) -> (WirePlan, Int?) {
    var reply = reply(to: request, target, fault)
    if let fault { reply.apply(fault) }
    let status = fault?.silence == nil ? reply.status : nil
    if isOrder(request, target), !request.isTooLong,
      !desk.take(record(of: request, target, status: status))
    {
      reply = .problem(500, "the order could not be saved")
    }
    if let fault, let silence = fault.silence {
      return (WirePlan(silence: silence, delay: fault.delay), nil)
    }
    return (WirePlan(reply, fault: fault, to: request, date: dateLine()), reply.status)
  }

  private func reply(
    to request: IncomingRequest,
    _ target: RequestTarget,
    _ fault: Fault?
  ) -> Reply {
    let method = request.head.method
    guard let path = target.path else { return .problem(404, "not found") }
    if desk.paths.contains(path), content[path] == nil || method == .POST {
      if method != .POST { return .problem(405, "post here", [HeaderField("Allow", "POST")]) }
      if request.isTooLong { return .problem(413, "an order can have at most 1 MiB") }
      var answer = content[path] ?? Resource(Array("ok".utf8), type: MediaType.text)
      if let fault { answer.apply(fault) }
      return Reply(200, [HeaderField("Content-Type", answer.type)], body: answer.body)
    }
    guard method == .GET || method == .HEAD else {
      return .problem(405, "only get and head", [HeaderField("Allow", "GET, HEAD")])
    }
    var resource = content.find(path)?.resource
    if let fault {
      if resource == nil, fault.body != nil {
        let empty = Resource([], type: MediaType.of(path: path))
        resource = content.servable(path, empty).resource
      }
      resource?.apply(fault)
    }
    guard let resource else { return .problem(404, "not found") }
    return .to(method: method.rawValue, fields: request.head.headers, with: resource)
  }

  private func isOrder(_ request: IncomingRequest, _ target: RequestTarget) -> Bool {
    request.head.method == .POST && target.path.map(desk.paths.contains) == true
  }

  private func record(
    of request: IncomingRequest,
    _ target: RequestTarget,
    status: Int?
  ) -> OrderRecord {
    OrderRecord(
      path: target.rawPath,
      method: request.head.method.rawValue,
      headers: request.fields,
      body: Array(request.body.readableBytesView),
      arrival: clock(),
      status: status
    )
  }

  /// The header line `Date`, which is rendered once a second.
  private func dateLine() -> ByteBuffer {
    let second = Int(clock())
    return date.withLock { date in
      if date.second != second {
        date = (second, ByteBuffer(string: "Date: \(HTTPDate.text(second))\r\n"))
      }
      return date.line
    }
  }
}
