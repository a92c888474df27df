import Base
import Dispatch
import SampleStore
import Support
import Testing

/// The start and the end of a sample store.
struct LifecycleTests {
  @Test func `a stopped store refuses connections, and stopping again does nothing`() throws {
    let store = try SampleStore(SampleContent())
    let idle = try RawClient(store)
    idle.get("/")
    _ = idle.answer()

    DispatchQueue.concurrentPerform(iterations: 4) { _ in store.stop() }
    store.stop()

    #expect(idle.rest() == ([], .closed))
    #expect(throws: RawClient.Refused.self) { try RawClient(store) }
  }

  @Test func `a store stops while clients keep asking`() throws {
    let store = try SampleStore(SampleContent(["/a": Resource(json: "1")]))

    DispatchQueue.concurrentPerform(iterations: 5) { index in
      if index == 0 {
        #expect(store.waitForRequests(50))
        store.stop()
      } else {
        while (try? store.ask("/a").status) == 200 {}
      }
    }

    #expect(throws: RawClient.Refused.self) { try RawClient(store) }
  }

  @Test func `a released store stops`() throws {
    var store: SampleStore? = try SampleStore(SampleContent())
    let client = try RawClient(#require(store))
    client.get("/")
    _ = client.answer()

    store = nil

    #expect(client.rest() == ([], .closed))
  }

  @Test func `a port in use is named in the error`() throws {
    let store = try SampleStore(SampleContent())

    let error = #expect(throws: LarderError.self) {
      try SampleStore(SampleContent(), port: store.port)
    }

    #expect(
      error?.description == """
        cannot listen on 127.0.0.1:\(store.port): address already in use; \
        choose another port, or 0 for any
        """
    )
  }

  @Test func `a store's port is free again after stop`() throws {
    // Below the ephemeral ports, so that no outgoing connection can take the port in between.
    var started: SampleStore?
    for port in 20_000..<20_100 where started == nil {
      started = try? SampleStore(SampleContent(), port: port)
    }
    let first = try #require(started)
    first.stop()

    let second = try SampleStore(
      SampleContent(["/a": Resource(json: "1")]),
      port: first.port
    )

    #expect(second.baseURL == "http://127.0.0.1:\(first.port)")
    #expect(try second.ask("/a").text == "1")
  }

  @Test func `more stores than threads start at once from tasks`() async throws {
    try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<16 {
        group.addTask {
          let store = try SampleStore(SampleContent(["/a": Resource(json: "\(index)")]))
          defer { store.stop() }
          return try store.ask("/a").text
        }
      }
      let texts = try await group.reduce(into: []) { $0.append($1) }
      #expect(Set(texts).count == 16)
    }
  }

  @Test func `a missing folder is named in the error`() throws {
    let error = #expect(throws: LarderError.self) { try SampleContent(folder: "/nowhere") }

    #expect(
      error?.description
        == "cannot serve /nowhere: it is not a readable folder; name a folder"
    )
  }
}
