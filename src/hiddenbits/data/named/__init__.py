"""Named columns, a file a format: frames, CSV, Parquet, sheets, labelled files, lines, streams."""
