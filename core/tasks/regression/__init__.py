"""What sums of products say: any column predicted from any others, how columns hang together, and along which axes."""
