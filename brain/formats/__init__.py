"""Text ⇄ model, lossless. Every `parse` takes any bytes, never raises, and reports problems by
line."""
