"""Speed, measured side by side with a rival in the same run; `make bench` runs them all."""
