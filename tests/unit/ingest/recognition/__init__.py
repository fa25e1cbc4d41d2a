"""Tests of what recognition makes of pictures, apart from the engines."""
