"""Wind-up toys: planar figures, their pose graphs, trials, how they are found and studied (paper 002)."""
