//! Cases: their ids and text form, the deterministic draw of inputs.
