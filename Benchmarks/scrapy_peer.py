"""Fetches a list of URLs with Scrapy's files pipeline: scrapy_peer.py URLS FOLDER CONNECTIONS h1|h2"""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

urls, folder, connections, protocol = sys.argv[1:5]


class Pictures(scrapy.Spider):
    name = "pictures"

    async def start(self):
        yield {"file_urls": open(urls).read().split()}

    def start_requests(self):
        # The data: URL is for versions that want a request before an item.
        yield scrapy.Request("data:,", callback=self.listed)

    def listed(self, response):
        yield {"file_urls": open(urls).read().split()}


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
process = CrawlerProcess(settings)
process.crawl(Pictures)
process.start()
