import Testing

@testable import Transport

/// The activity shown to a person for the requests in progress.
@Suite struct ActivityTests {
  @Test(
    arguments: [
      ([], nil), ([("a", 0)], nil), ([("a", 1)], "a"), ([("a", 1), ("b", 2)], "b"),
      ([("a", 2), ("b", 1)], "a"), ([("a", 2), ("b", 2)], "a"),
      ([("a", 0), ("b", 1), ("c", 0)], "b"), ([("a", 1), ("b", 3), ("c", 2)], "b"),
    ] as [([(String, Int)], String?)]
  )
  func `the host with the most requests is named, the first of equals`(
    _ underWay: [(String, Int)],
    _ host: String?
  ) {
    let activity = TransferActivity(
      retrying: 2,
      underWay: underWay.map { (host: $0.0, requests: $0.1) }
    )

    #expect(activity.host == host)
    #expect(activity.retrying == 2)
  }

  @Test func `without requests there is no host`() {
    #expect(TransferActivity().host == nil)
    #expect(TransferActivity().retrying == 0)
  }

  @Test(
    arguments: [
      (.https, "cdn.example.com", nil, "cdn.example.com"),
      (.https, "cdn.example.com", 443, "cdn.example.com"),
      (.https, "cdn.example.com", 80, "cdn.example.com:80"),
      (.http, "cdn.example.com", 80, "cdn.example.com"),
      (.http, "127.0.0.1", 8080, "127.0.0.1:8080"),
      (.http, "::1", nil, "[::1]"), (.http, "::1", 8080, "[::1]:8080"),
    ] as [(WebURL.Scheme, String, Int?, String)]
  )
  func `a host is shown with its own port, and without secrets`(
    _ scheme: WebURL.Scheme,
    _ host: String,
    _ port: Int?,
    _ shown: String
  ) {
    let url = WebURL(
      scheme: scheme,
      userInfo: "larder:secret",
      host: host,
      port: port,
      path: "/secret.jpg",
      query: "token=secret"
    )

    #expect(url.shownHost == shown)
    #expect(url.with(userInfo: nil).shownHost == shown)
  }
}
