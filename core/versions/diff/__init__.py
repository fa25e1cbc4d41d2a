"""Two texts compared: lines -> align -> plan -> pair -> moves -> words | tables | values -> write."""
