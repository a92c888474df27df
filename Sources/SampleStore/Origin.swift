import Base
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
  /// The paths that accept `POST`.
  private let orderPaths: Set<String>

  let ledger: Mutex<FaultLedger>
  private let clock: @Sendable () -> Double

  init(
    _ content: SampleContent,
    faults: FaultScript,
    orders: Set<String>,
    journal: String?,
    clock: @escaping @Sendable () -> Double
  ) throws(LarderError) {
    self.content = content
    self.clock = clock
    orderPaths = orders
    desk = try SampleOrders(journal: journal)
    ledger = Mutex(FaultLedger(faults))
  }

  /// Decides how to answer a request, and records the request before anything is sent.
  func plan(for request: IncomingRequest) -> WirePlan {
    let target = RequestTarget(request.head.uri)
    let method = request.head.method
    let path = target.path ?? target.rawPath
    let fault = ledger.withLock { $0.fault(path: path, query: target.query) }
    var reply = reply(to: request, target, fault)
    if let fault { reply.apply(fault) }
    let isSilent = fault?.silence != nil
    let isOrder = method == .POST && target.path.map(orderPaths.contains) == true
    var record = RequestRecord(
      method: method.rawValue,
      path: target.rawPath,
      query: target.query,
      headers: request.fields,
      body: Array(request.body.readableBytesView),
      arrival: clock(),
      status: isSilent ? nil : reply.status
    )
    if isOrder, !request.isTooLong, !desk.take(record) {
      reply = .problem(500, "the order could not be saved")
      record.status = isSilent ? nil : reply.status
    }
    let plan =
      if let fault, let silence = fault.silence {
        WirePlan(delay: fault.delay, ending: silence)
      } else {
        WirePlan(reply, fault: fault, to: request.head, at: clock())
      }
    record.bytes = plan.bodyBytes
    journal.add(record)
    return plan
  }

  private func reply(
    to request: IncomingRequest,
    _ target: RequestTarget,
    _ fault: Fault?
  ) -> Reply {
    let method = request.head.method
    guard let path = target.path else { return .problem(404, "not found") }
    if orderPaths.contains(path), content[path] == nil || method == .POST {
      if method != .POST { return .problem(405, "post here", [("Allow", "POST")]) }
      if request.isTooLong { return .problem(413, "an order can have at most 1 MiB") }
      var answer = content[path] ?? Resource(Array("ok".utf8), type: MediaType.text)
      if let fault { answer.apply(fault) }
      return Reply(200, [("Content-Type", answer.type)], body: answer.body)
    }
    guard method == .GET || method == .HEAD else {
      return .problem(405, "only get and head", [("Allow", "GET, HEAD")])
    }
    var resource = content.find(path)
    if let fault {
      if resource == nil, fault.body != nil {
        resource = Resource([], type: MediaType.of(path: path))
      }
      resource?.apply(fault)
    }
    guard let resource else { return .problem(404, "not found") }
    return .to(method: method.rawValue, fields: request.head.headers, with: resource)
  }
}
