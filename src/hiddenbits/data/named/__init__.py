"""Named columns, a file a format: frames, CSV, Parquet, sheets, labeled files, lines, streams."""
