"""Whole LangGraph runs on the backend."""
