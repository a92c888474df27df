import Foundation
import Support
import Testing

/// Opens pages in headless Chromium; without it these tests are skipped with a message.
@Suite(.enabled(if: Browser.isThere, "chromium is not installed: no page was opened"))
struct BrowserTests {
  /// Opens a page.
  ///
  /// After the script of the page has run, the document is on stdout, and the messages of the
  /// console are on stderr.
  private func open(_ page: String) throws -> Command {
    try Command.shell(
      """
      timeout 60 /usr/bin/chromium --headless --no-sandbox --disable-gpu --user-data-dir="$HOME/profile" \
        --enable-logging=stderr --v=0 --virtual-time-budget=4000 --dump-dom "$page"
      """,
      environment: ["page": page]
    )
  }

  @Test func `the page of a hostile feed runs only its own script and logs no error`() throws {
    let shop = try Shop()
    let evil =
      #"\"\u0301 onmouseover=\"document.title='owned'\"><img src=x onerror=\"document.title='owned'\">"#
    shop.list(
      [
        """
        {"detail_hash": "A1", "image": "/pictures/A1.jpg", "title": "\(evil)",
         "description": "</script><script>document.title='owned'</script>", "s_price": "7,000원",
         "badge": ["<b>"], "delivery_type": ["</style>"]}
        """
      ],
      in: "main"
    )
    _ = try shop.sync()
    let out = shop.folder.path("page.html")
    #expect(try shop.larder("report", "--out", out).status == 0)

    let seen = try open("file://\(out)#i0")

    #expect(seen.status == 0)
    #expect(!seen.errors.contains("CONSOLE"), "\(seen.errors)")
    #expect(seen.output.contains("<title>banchan – Catalog report</title>"))
    #expect(!seen.output.contains("<img src=\"x\""))
    // The URL's fragment names an item, so its sheet is open.
    let sheet = try #require(seen.output.firstRange(of: "<dialog id=\"sheet\""))
    #expect(seen.output[sheet.lowerBound...].prefix(80).contains("open=\"\""))
    #expect(seen.output[sheet.lowerBound...].contains("&lt;img src=x"))
  }
}

/// The browser that opens the pages.
private enum Browser {
  static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
}
