"""Rivals that release a trained model and nothing else."""
