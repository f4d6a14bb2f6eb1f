"""Fetching pages of the web, safely and politely: addresses, one request, robots.txt, and the pace of many."""
