"""What a registry, an archive or a search engine asks of a release, written from its manifest."""
