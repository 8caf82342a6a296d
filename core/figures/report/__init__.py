"""What leaves the app beside a release: privacy label, report, script, notebook."""
