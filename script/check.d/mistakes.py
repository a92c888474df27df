"""An origin for script/check mistakes with the usual faults of shops; prints its URL and serves until it is killed."""
import http.server
import time

HTML = b"<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"


class Origin(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, kind, body = {
            "/page": (200, "text/html", HTML),
            "/empty": (200, "application/json", b""),
            "/broken": (200, "application/json", b'{"body": [{"detail_hash": "A1", '),
            "/token": (401, "application/json", b'{"error": "token"}'),
            "/slow": (200, "application/json", b'{"body": []}'),
        }.get(self.path, (404, "text/plain", b"not found"))
        if self.path == "/slow":
            time.sleep(30)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
