//! Runs a command confined: `confined run-confined SPEC_JSON -- command args…`, as `provost` itself does.
//! With a spec of `{"readWrite": ["."], "readOnly": ["/usr", "/lib", "/lib64", "/bin", "/etc"]}`, for one.

use std::ffi::OsString;
use std::process::ExitCode;

use provost_runner::sandbox::{self, Spec};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [subcommand, spec, argv @ ..] = args.as_slice() else {
        eprintln!("usage: confined run-confined SPEC_JSON -- command args…");
        return ExitCode::from(2);
    };
    let argv = argv.split_first().map_or(argv, |(_dashes, argv)| argv);
    let spec = serde_json::from_str::<Spec>(&spec.to_string_lossy());
    match (subcommand == sandbox::SUBCOMMAND, spec) {
        (true, Ok(spec)) => match sandbox::launch(&spec, argv) {
            Ok(()) => ExitCode::SUCCESS,
            Err(refused) => {
                eprintln!("{refused}");
                ExitCode::from(126)
            }
        },
        (_, spec) => {
            eprintln!("usage: confined run-confined SPEC_JSON -- command args… {spec:?}");
            ExitCode::from(2)
        }
    }
}
