import Base
import SampleStore
import Support
import Testing

/// Orders that a sample store receives as a webhook.
struct OrderTests {
  @Test func `an order is journaled with its headers, its bytes and its time`() throws {
    let store = try SampleStore(SampleContent(), clock: { 784_111_777.5 })
    let client = try RawClient(store)

    client.request("POST", "/orders", ["X-Id: 1"], body: "{\"a\":\"국\"}")

    let answer = client.answer()
    #expect((answer.status, answer.text) == (200, "ok"))
    #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
    let order = try #require(store.orders.first)
    #expect((order.path, order.method, order.status) == ("/orders", "POST", 200))
    #expect(order.headers["x-id"] == "1")
    #expect(String(decoding: order.body, as: UTF8.self) == "{\"a\":\"국\"}")
    #expect(order.arrival == 784_111_777.5)
  }

  @Test func `orders are appended line by line to a file`() throws {
    let folder = try TemporaryFolder()
    try folder.write("before\n", to: "orders.jsonl")
    let store = try SampleStore(
      SampleContent(),
      orders: ["/hook/T1"],
      journal: folder.path + "/orders.jsonl",
      clock: { 784_111_777 }
    )
    let client = try RawClient(store)

    client.request("POST", "/hook/T1", body: "a\n\"b\"\u{1}")
    _ = client.answer()

    #expect(
      try folder.text("orders.jsonl") == """
        before
        {"body":"a\\n\\"b\\"\\u0001","headers":[["Host","store"],["Content-Length","6"]],\
        "method":"POST","path":"/hook/T1","status":200,"time":"1994-11-06T08:49:37Z"}

        """
    )
  }

  @Test(arguments: [1 << 20, (1 << 20) + 1])
  func `an order may have a mebibyte and no more`(count: Int) throws {
    let store = try SampleStore(SampleContent())
    let client = try RawClient(store)

    client.request("POST", "/orders", body: String(repeating: "x", count: count))

    let fits = count == 1 << 20
    #expect(client.answer().status == (fits ? 200 : 413))
    #expect(store.orders.map(\.body.count) == (fits ? [count] : []))
  }

  @Test func `a client that waits for 100 continue gets it, and then its answer`() throws {
    let store = try SampleStore(SampleContent())
    let client = try RawClient(store)

    client.send(
      "POST /orders HTTP/1.1\r\nHost: s\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    #expect(client.answer().status == 100)
    client.send("hi")

    #expect(client.answer().text == "ok")
  }

  @Test func `an order whose answer is lost has arrived, without a status`() throws {
    let store = try SampleStore(
      SampleContent(),
      faults: [
        FaultRule(hits: .range(1...1), .closeWithoutAnswer),
        FaultRule(hits: .range(2...2), .status(503)),
      ]
    )
    for body in ["1", "2", "3"] {
      let client = try RawClient(store)
      client.request("POST", "/orders", ["Connection: close"], body: body)
      _ = client.rest()
    }

    #expect(store.orders.map(\.status) == [nil, 503, 200])
    #expect(store.orders.map(\.body) == [[0x31], [0x32], [0x33]])
  }

  @Test func `an order file that cannot be opened is named`() throws {
    let error = #expect(throws: LarderError.self) {
      try SampleStore(SampleContent(), journal: "/nowhere/orders.jsonl")
    }

    #expect(error?.description.contains("/nowhere/orders.jsonl: no such file") == true)
  }
}
