import CurlTransport
import Foundation
import Larder
import Orders
import Pipeline
import SampleStore
import Transport

extension Demonstration {
  /// Places an order of the first item, brings it to the store's webhook and lists it.
  ///
  /// The outbox of the demo goes with it: it is nobody's order.
  func order(_ reader: CatalogReader, from store: SampleStore) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "larder-demo-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let item = try reader.list().first(where: { !$0.item.isSoldOut })?.item else { return }
    let clock = SystemCourierClock()
    let language = try OutboxOptions.parse([]).language
    let draft = OrderDraft(
      by: "Jiyeon",
      wishes: [OrderDraft.Wish(item: item.id, quantity: 2)],
      language: language
    )
    let order = try CatalogOrder(draft, reader, at: clock.now()).order
    let outbox = try Outbox(folder.appending(path: "orders.sqlite").path)
    try outbox.place(order)
    tell("placed     \(PlacedOrderText(order).text)")

    let webhook = try Orders.Webhook(
      store.baseURL + "/orders",
      payload: .slack,
      parser: CurlURLParser()
    )
    // The embedded store is on this machine, whatever proxy LARDER_PROXY names.
    let options = try WebhookOptions.parse(["--proxy", "none"])
    let (report, signal) = try OrderSending(outbox, webhook, options).run()
    let body = store.orders.last.map { String(decoding: $0.body, as: UTF8.self) } ?? "nothing"
    tell("received   \(body)")
    for warning in CourierSummary(report, host: webhook.host).warnings {
      Log(output).warning(warning)
    }
    if signal != nil { throw CommandFailure(nil, ExitStatus(report, signal: signal)) }
    let terminal = Terminal(output)
    let table = OrderTable(try outbox.orders(), language, now: clock.now(), terminal)
    tell("listed     \(table.text)")
    guard report.delivered == [order.id] || faults != nil else {
      throw CommandFailure("the demo did not go as it should", .failed)
    }
  }
}
