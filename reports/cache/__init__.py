"""The cache of reports: results of stages on disk, each read again while code, data and options stay the same."""
