"""Imported where the processor has what the engine is compiled for; an ImportError says what it lacks."""
