import Foundation
import Support
import Testing

/// The binary on a machine without libcurl, which it loads only when it fetches.
@Suite struct LibcurlTests {
  @Test func `without libcurl everything but fetching works, and an error names the package`()
    throws
  {
    let folder = try TemporaryFolder()
    let site = "http://127.0.0.1:9/main.json"
    let catalog = try folder.write(
      "name: shop\ncurrency: KRW\nsections: [{key: main, title: Main, url: \(site)}]\n",
      to: "shop.yaml"
    )
    // The dynamic loader finds this file first and cannot read it.
    let library = try folder.write("", to: "libcurl.so.4")
    let environment = ["LD_LIBRARY_PATH": folder.path]
    let cache = ["--cache", folder.path("cache")]

    for fetching in [
      ["sync", catalog] + cache, ["warm", catalog] + cache, ["bench", site],
      ["catalog", "init", site],
    ] {
      let failed = try Command.larder(fetching, environment: environment)

      #expect(failed.status == 1, "\(fetching)")
      #expect(
        failed.errors == "larder: cannot fetch: libcurl cannot be opened: \(library): "
          + "file too short; install it (Debian: libcurl4)\n"
      )
    }
    for other in [["catalog", "schema"], ["--version"], ["help", "sync"]] {
      #expect(try Command.larder(other, environment: environment).status == 0, "\(other)")
    }
  }
}
