"""Wind-up toys: planar figures, their pose graphs, trials, gaits found and studied (paper 002)."""
