"""Fetches a list of URLs with Scrapy's files pipeline: scrapy_peer.py URLS FOLDER CONNECTIONS h1|h2"""
import sys

import scrapy
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import CrawlerProcess

urls, folder, connections, protocol = sys.argv[1:5]


class Pictures(scrapy.Spider):
    name = "pictures"

    async def start(self):
        # One picture for each item, as from a shop's pages: with ten thousand in one item, a quarter is lost.
        for url in open(urls).read().split():
            yield {"file_urls": [url]}


settings = {
    "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
    "FILES_STORE": folder, "CONCURRENT_REQUESTS": int(connections),
    "CONCURRENT_REQUESTS_PER_DOMAIN": int(connections), "CONCURRENT_ITEMS": int(connections),
    "DOWNLOAD_DELAY": 0, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False, "COOKIES_ENABLED": False, "RETRY_ENABLED": False,
}
if protocol == "h2":
    settings["DOWNLOAD_HANDLERS"] = {
        "https": "scrapy.core.downloader.handlers.http2.H2DownloadHandler"}
# Scrapy checks every five seconds whether it is done, which would be most of a short run.
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.05
process = CrawlerProcess(settings)
process.crawl(Pictures)
process.start()
