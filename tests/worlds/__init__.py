"""Worlds whose truth is known: every command is asked, and every sentence is checked."""
