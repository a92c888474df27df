import Foundation
import Hummingbird
import Larder

// Keeps a shop's catalog up to date and serves it: `/` lists the items, `/pictures/ID` is an item's thumbnail.
//
//     ShowCatalog CATALOG CACHE PORT

let arguments = CommandLine.arguments
guard arguments.count == 4, let port = Int(arguments[3]) else {
  fatalError("usage: ShowCatalog CATALOG CACHE PORT")
}
let shop = try Shop(catalog: arguments[1], cache: arguments[2])
try await shop.sync()

extension String {
  /// The text, escaped for HTML.
  var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}

let router = Router()
router.get("/") { _, _ in
  var page = "<!doctype html><meta charset=\"utf-8\"><title>\(shop.catalog.name.escaped)</title>"
  for section in try shop.sections() {
    page += "<h2>\(section.title.escaped)</h2><ul>"
    for item in try shop.items(in: section.key) {
      let id = item.id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let price = item.salePrice?.formatted() ?? ""
      page += "<li><img src=\"/pictures/\(id)\" alt=\"\" width=\"64\"> "
      page += "\(item.title.escaped) \(price.escaped)</li>"
    }
    page += "</ul>"
  }
  return Response(
    status: .ok,
    headers: [.contentType: "text/html; charset=utf-8"],
    body: .init(byteBuffer: ByteBuffer(string: page))
  )
}
router.get("/pictures/{id}") { _, context in
  let id = try context.parameters.require("id").removingPercentEncoding ?? ""
  guard let picture = try shop.item(id)?.thumbnail, let file = picture.file else {
    throw HTTPError(.notFound)
  }
  return Response(
    status: .ok,
    headers: [.contentType: picture.type ?? "application/octet-stream"],
    body: .init(byteBuffer: ByteBuffer(bytes: try Data(contentsOf: URL(filePath: file))))
  )
}

// Every quarter of an hour, requests the documents and pictures that are stale.
let refresh = Task {
  while !Task.isCancelled {
    try await Task.sleep(for: .seconds(900))
    do {
      try await shop.warm()
    } catch {
      print(error)
    }
  }
}
let application = Application(
  router: router,
  configuration: .init(address: .hostname("127.0.0.1", port: port))
)
print("serving http://127.0.0.1:\(port)")
try await application.runService()
refresh.cancel()
