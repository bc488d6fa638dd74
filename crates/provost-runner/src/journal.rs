//! What is left of a run on disk: one JSON object a line, in the order in which things happened.
