"""Recordings of spiking neurons: kept as files, and what is read out of them."""
