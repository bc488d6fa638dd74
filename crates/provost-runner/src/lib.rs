//! Runs a coding agent over ACP, unattended, for one prompt or for a session of them: what it writes is reported raw, what it wants to
//! do is asked about, and what it may spend is limited. Works alone or with a gateway.

pub mod acp;
pub mod agents;
pub mod answer;
pub mod brake;
pub mod config;
pub mod home;
pub mod inbox;
pub mod journal;
pub mod json_error;
pub mod keeper;
pub mod leftovers;
pub mod meter;
pub mod metering;
pub mod orphans;
pub mod permission;
pub mod process;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod setup;
mod shell;
pub mod unbegun;
pub mod unsupervised;
pub mod watch;
pub mod web;
pub mod workspace;
