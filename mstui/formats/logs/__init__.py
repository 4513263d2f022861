"""Text logs of trainings: bytes in; scalars, the places of records, and events out."""
