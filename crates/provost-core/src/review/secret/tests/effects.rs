//! Whatever takes effect is still read.

use proptest::prelude::*;

use super::mask_command;
use crate::review::summary::{Outline, Role};

/// Pieces of scripts around names of secrets. Those in capitals are marked: they take effect.
fn risky_piece() -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let name = prop::sample::select(vec!["TOKEN", "PASSWORD", "API_KEY", "pass"]);
    let shape = 0..16_usize;
    (name, shape).prop_map(|(name, shape)| {
        let (text, effects): (String, &[&str]) = match shape {
            0 => (format!("{name}=wipedisk; ${name}"), &["wipedisk"]),
            1 => (format!("rm -rf --{name} victimfolder"), &["victimfolder"]),
            2 => (
                format!("{name}='x' rm -rf /victim/data"),
                &["rm", "/victim/data"],
            ),
            3 => (
                format!("echo {name}=\"; rm -rf /victim/data; echo \"x\""),
                &["rm -rf /victim/data"],
            ),
            4 => (format!("{name}=\"$(wipedisk now)\""), &["wipedisk now"]),
            5 => (format!("{name}=a`wipedisk`b"), &["wipedisk"]),
            6 => (
                format!("deploy --x {name}=y,target=prodsystem"),
                &["prodsystem"],
            ),
            7 => (
                format!("{name}='wipedisk --all'; eval \"${name}\""),
                &["wipedisk --all"],
            ),
            8 => (
                format!("curl -d '{{\"{name}\":\"x\",\"do\":\"wipeall\"}}' h"),
                &["wipeall"],
            ),
            9 => (format!("echo {name}: x >/victim/file"), &["/victim/file"]),
            10 => (
                format!("alias {name}='wipedisk --all'"),
                &["wipedisk --all"],
            ),
            11 => (format!("{name}=x&wipedisk&"), &["wipedisk"]),
            12 => ("curl http://u:&wipedisk&@x".to_owned(), &["wipedisk"]),
            13 => (format!("bash -c '{name}=wipedisk; ${name}'"), &["wipedisk"]),
            14 => (
                format!("cat <<E | sh\n{name}=x\nwipedisk\nE\n"),
                &["wipedisk"],
            ),
            _ => (format!("sh --{name} evilscript"), &["evilscript"]),
        };
        (text, effects.to_vec())
    })
}

proptest! {
    /// Scripts of risky pieces: whatever takes effect is still read, in the command and in its steps.
    #[test]
    fn p09_whatever_takes_effect_is_still_read(
        pieces in prop::collection::vec(risky_piece(), 1..5),
        joints in prop::collection::vec(prop::sample::select(vec!["; ", "\n", " && ", " | ", "\n# don't\n"]), 5),
    ) {
        let mut script = String::new();
        for ((text, _), joint) in pieces.iter().zip(&joints) {
            script.push_str(text);
            script.push_str(joint);
        }
        let shown = mask_command(&script);
        for effect in pieces.iter().flat_map(|(_, effects)| effects) {
            prop_assert!(shown.contains(effect), "{:?} is shown as {:?}", script, shown);
        }
    }

    /// Of what the reader finds, programs, files and substitutions are in the masked text, word by word.
    #[test]
    fn p09_every_program_and_file_that_is_read_stays(
        script in "((TOKEN|PASSWORD|pass)=|--token |'|\"|\\$\\(|\\)|`|; |rm |-rf |/srv |sh |\\$TOKEN |> |abc12345|x,y=z |\\| |\n|<<E\n|\nE\n|\\\\|#|&|\\{|\\}|https://a:|@h ){0,14}",
    ) {
        if let Some(outline) = Outline::of(&script) {
            let shown = mask_command(&script);
            for spot in outline.spots.iter().filter(|spot| !spot.computed && matches!(spot.role, Role::Program | Role::File)) {
                let bare = |text: &str| text.replace(['\'', '"', '\\', '\n'], "");
                prop_assert!(bare(&shown).contains(&bare(&spot.text)), "{:?} is shown as {:?}", script, shown);
            }
        }
    }
}
