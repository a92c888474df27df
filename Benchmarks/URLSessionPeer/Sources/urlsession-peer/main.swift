// Fetches a list of URLs with URLSession and a DispatchGroup, as many apps do.
//   urlsession-peer URLS FOLDER CONNECTIONS
import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

let arguments = CommandLine.arguments
let urls = try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n")
let folder = URL(filePath: arguments[2])
let configuration = URLSessionConfiguration.ephemeral
configuration.httpMaximumConnectionsPerHost = Int(arguments[3]) ?? 50
configuration.urlCache = nil
let session = URLSession(configuration: configuration)
let group = DispatchGroup()
let kept = Mutex(0)
// Starting tens of thousands of tasks at once would measure something else; this many keep every connection busy.
let room = DispatchSemaphore(value: 4 * configuration.httpMaximumConnectionsPerHost)
for text in urls {
  guard let url = URL(string: String(text)) else { continue }
  room.wait()
  group.enter()
  session.dataTask(with: url) { data, response, _ in
    if let data, (response as? HTTPURLResponse)?.statusCode == 200,
      (try? data.write(to: folder.appending(path: url.lastPathComponent), options: .atomic)) != nil
    {
      kept.withLock { $0 += 1 }
    }
    room.signal()
    group.leave()
  }.resume()
}
group.wait()
exit(kept.withLock { $0 } == urls.count ? 0 : 1)
