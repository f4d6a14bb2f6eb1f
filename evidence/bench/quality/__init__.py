"""Is structure worth it? SPIRE, its ablations and the usual baselines on the same pages, model and token budget."""
