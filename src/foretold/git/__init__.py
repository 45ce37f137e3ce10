"""The only place that starts git."""
