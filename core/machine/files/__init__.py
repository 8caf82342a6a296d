"""Files that strangers may have made: every byte is checked before it is believed, and before memory is given to it."""
