"""Spiking language models: neurons, conversion of trained models, recordings of their spikes, and training.

The way of a value: ``convert`` puts a population (``neurons``) before every linear layer, ``monitor`` listens to the
populations, ``recording`` keeps what it heard in a file, ``statistics`` counts it, and the Neurons page draws it.
"""
