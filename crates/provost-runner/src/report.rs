//! What whoever started the run is told of it: signed, in order, at least once.
