"""Two texts compared: lines -> align -> plan -> pair -> moves -> edited moves -> words | tables | values -> write."""
