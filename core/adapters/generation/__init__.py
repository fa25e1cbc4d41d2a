"""What writes answers: language models of this machine, of servers, of other programs, and spiking ones."""
