"""What begins a line on standard error that a worker has for its client."""
MARK = "dome-worker-failed: "
