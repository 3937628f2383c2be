"""What comes as a stream: Arrow's batches, lakes, databases; what comes once is kept in temporary files."""
