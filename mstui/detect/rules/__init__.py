"""One file a symptom or tight family of them; each declares RULE."""
