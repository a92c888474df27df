"""The origin of the side-by-side runs: nginx on loopback, in plain text and over TLS with HTTP/2.

A path is /DELAY/fresh|stale/SET/NAME: `echo_sleep` (Debian's libnginx-mod-http-echo) makes the delay before the first byte; fresh answers may be
cached for a day, stale ones must be revalidated each time.
"""
import json
import os
import random
import resource
import subprocess

DELAYS = (0, 20, 100)


def make_set(www, name, sizes):
    """Writes JPEG files by their first and last bytes, noise between, and ten sections that list them."""
    folder = os.path.join(www, name)
    os.makedirs(folder)
    items = []
    for number, size in enumerate(sizes):
        file = f"{number:06d}.jpg"
        with open(os.path.join(folder, file), "wb") as picture:
            picture.write(b"\xff\xd8\xff\xe0" + random.randbytes(size - 6) + b"\xff\xd9")
        items.append({
            "detail_hash": f"B{number:06d}", "image": file, "alt": f"반찬 {number}",
            "delivery_type": ["새벽배송"], "title": f"시험 반찬 {number}",
            "description": "재는 데 쓰는 반찬", "n_price": f"{1000 + number:,}원",
            "s_price": f"{900 + number:,}원", "badge": ["이벤트특가"],
        })
    for section in range(10):
        part = items[section * len(items) // 10:(section + 1) * len(items) // 10]
        with open(os.path.join(folder, f"s{section}.json"), "w") as out:
            json.dump(part, out, ensure_ascii=False)
    return [item["image"] for item in items]


def sizes(count, least, most):
    return [random.randint(least, most) for _ in range(count)]


class Origin:
    """nginx in a folder of its own; `sets` maps names to lists of sizes.

    It listens at `address`, which clients reach as `shown`, on four ports: plain text, TLS, and both again as another host.
    """

    def __init__(self, work, sets, port, address="127.0.0.1", shown="127.0.0.1"):
        self.work, self.port, self.address, self.shown = work, port, address, shown
        random.seed(1)
        self.www = www = os.path.join(work, "www")
        self.names = {name: make_set(www, name, list_) for name, list_ in sets.items()}
        self.bytes = {name: sum(list_) for name, list_ in sets.items()}
        self.ca = os.path.join(work, "ca.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
             f"subjectAltName=IP:{shown}", "-keyout", os.path.join(work, "key.pem"), "-out", self.ca],
            check=True, capture_output=True)
        os.makedirs(os.path.join(work, "tmp"))
        conf = os.path.join(work, "nginx.conf")
        with open(conf, "w") as out:
            out.write(self.configuration(www))
        os.chmod(work, 0o755)
        subprocess.run(["nginx", "-c", conf], check=True)

    def base(self, protocol, delay, state, elsewhere=False):
        scheme, port = ("http", self.port) if protocol == "http/1.1" else ("https", self.port + 1)
        return f"{scheme}://{self.shown}:{port + (2 if elsewhere else 0)}/{delay}/{state}/"

    def stop(self):
        with open(os.path.join(self.work, "nginx.pid")) as pid:
            os.kill(int(pid.read()), 15)

    def configuration(self, www):
        late = "\n".join(
            f"    location ~ ^/{ms}/(.*)$ {{ echo_sleep {ms / 1000}; echo_exec /0/$1; }}"
            for ms in DELAYS if ms)
        temporary = " ".join(
            f"{kind}_temp_path {self.work}/tmp;"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # Half of the descriptors for files that nginx keeps open, the others for connections.
        files = min(40_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        return f"""load_module modules/ngx_http_echo_module.so;
worker_processes 1;
error_log {self.work}/error.log;
pid {self.work}/nginx.pid;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 1000000; http2_max_concurrent_streams 128;
  types {{ image/jpeg jpg; application/json json; }}
  open_file_cache max={files} inactive=1h; open_file_cache_valid 1h;
  {temporary}
  server {{
    listen {self.address}:{self.port};
    listen {self.address}:{self.port + 1} ssl http2;
    listen {self.address}:{self.port + 2};
    listen {self.address}:{self.port + 3} ssl http2;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate {self.ca}; ssl_certificate_key {self.work}/key.pem;
    root {www};
    location ~ ^/0/fresh/(.*)$ {{ expires 1d; try_files /$1 =404; }}
    location ~ ^/0/stale/(.*)$ {{ add_header Cache-Control no-cache; try_files /$1 =404; }}
{late}
  }}
}}
"""
