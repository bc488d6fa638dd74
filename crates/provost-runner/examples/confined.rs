//! Runs a command confined: `confined run-confined SPEC_JSON -- command args…`, as `provost` itself does.
//! With a spec of `{"readWrite": ["."], "readOnly": ["/usr", "/lib", "/lib64", "/bin", "/etc"]}`, for one.

use std::ffi::OsString;
use std::process::ExitCode;

use provost_runner::sandbox::{self, Spec};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [subcommand, spec, dashes, argv @ ..] = args.as_slice() else {
        eprintln!("usage: confined run-confined SPEC_JSON -- command args…");
        return ExitCode::from(2);
    };
    let spec = serde_json::from_str::<Spec>(&spec.to_string_lossy());
    match (subcommand == sandbox::SUBCOMMAND && dashes == "--", spec) {
        (true, Ok(spec)) => {
            let Err(refused) = sandbox::launch(&spec, argv);
            eprintln!("{refused}");
            ExitCode::from(126)
        }
        (_, spec) => {
            eprintln!("usage: confined run-confined SPEC_JSON -- command args… {spec:?}");
            ExitCode::from(2)
        }
    }
}
