//! The table of flags, by program.

use super::Known;

const fn known(programs: &'static [&'static str], flags: &'static str) -> Known {
    Known { programs, flags }
}

/// Where GNU and BSD disagree whether a flag takes a value, it is said to take none: the value is then one more
/// operand.
pub(super) const TABLE: [Known; 40] = [
    known(
        &["ls"],
        "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1DITw --all --almost-all --author --escape --ignore-backups \
         --classify --color --directory --dired --file-type --format --full-time --group-directories-first \
         --no-group --human-readable --si --dereference --dereference-command-line --hide: --hyperlink \
         --indicator-style --inode --ignore: --kibibytes --numeric-uid-gid --literal --quote-name \
         --quoting-style --reverse --recursive --size --sort --time --time-style --tabsize: --width: --context \
         --zero --block-size --version --help",
    ),
    known(
        &["cat", "tac"],
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs \
         --show-nonprinting --version --help",
    ),
    known(
        &["head", "tail"],
        "-qvzfFr0123456789 -n: -c: -s: --lines: --bytes: --quiet --silent --verbose --zero-terminated --follow \
         --retry --pid: --sleep-interval: --version --help",
    ),
    known(
        &["wc"],
        "-clLmw --lines --words --bytes --chars --max-line-length --total --version --help",
    ),
    known(
        &["grep", "egrep", "fgrep"],
        "-EFGPiyvwxcLlqsHhnbTZzUoaIrRuC0123456789 -A: -B: -m: -e: -d: -D: -f< --regexp: --color --colour \
         --include: --exclude: --exclude-dir: --after-context: --before-context: --max-count: \
         --ignore-case --no-ignore-case --line-number --count --files-with-matches --files-without-match \
         --only-matching --invert-match --word-regexp --line-regexp --extended-regexp --basic-regexp \
         --perl-regexp --fixed-strings --no-filename --with-filename --quiet --silent --no-messages --recursive \
         --dereference-recursive --text --binary --binary-files: --byte-offset --initial-tab --line-buffered \
         --null --null-data --label: --directories: --devices: --group-separator: --no-group-separator --file< \
         --version --help",
    ),
    known(
        &["rg"],
        "-ilnNcvwFHIoSsUxLpPqa0u.hVb -A: -B: -C: -m: -g: -t: -T: -r: -j: -M: -e: -d: -E: -f< --regexp: --glob: \
         --iglob: --type: --type-not: --type-list --hidden --no-hidden --no-ignore --no-ignore-vcs \
         --no-ignore-parent --ignore --no-heading --heading --line-number --no-line-number --ignore-case \
         --smart-case --case-sensitive --fixed-strings --files-with-matches --files-without-match --count \
         --count-matches --color: --colors: --context: --after-context: --before-context: --max-count: \
         --max-depth: --max-filesize: --max-columns: --json --stats --quiet --sort: --sortr: --threads: \
         --word-regexp --line-regexp --only-matching --invert-match --with-filename --no-filename --multiline \
         --multiline-dotall --pcre2 --text --binary --column --trim --replace: --vimgrep --null --pretty \
         --passthru --unrestricted --follow --no-follow --one-file-system --no-messages --no-config --debug \
         --engine: --encoding: --crlf --byte-offset --files --glob-case-insensitive --version --help --file<",
    ),
    known(
        &["sort"],
        "-bdfgiMhnRrVcCmsuz -k: -t: -S: -o> --key: --field-separator: --numeric-sort --general-numeric-sort \
         --human-numeric-sort --version-sort --month-sort --dictionary-order --ignore-case \
         --ignore-leading-blanks --ignore-nonprinting --random-sort --random-source< --reverse --sort: --unique \
         --stable --merge --check --zero-terminated --parallel: --batch-size: --buffer-size: --debug --output> \
         --version --help",
    ),
    known(
        &["uniq"],
        "-cdDiuz -f: -s: -w: --count --repeated --all-repeated --unique --ignore-case --skip-fields: \
         --skip-chars: --check-chars: --group --zero-terminated --version --help",
    ),
    known(
        &["cut"],
        "-nsz -b: -c: -d: -f: --delimiter: --fields: --characters: --bytes: --only-delimited --complement \
         --output-delimiter: --zero-terminated --version --help",
    ),
    known(
        &["diff"],
        "-abBcdeEiNnpqrstTuwyZ0123456789 -U: -C: -I: -x: -W: -F: --unified --context --brief --recursive \
         --side-by-side --color --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case \
         --ignore-trailing-space --ignore-matching-lines: --new-file --report-identical-files --text \
         --strip-trailing-cr --minimal --width: --suppress-common-lines --exclude: --label: --show-c-function \
         --show-function-line: --no-dereference --normal --ed --rcs --palette: --version --help",
    ),
    known(
        &["jq"],
        "-nrjaSCMcseRh --null-input --raw-output --join-output --ascii-output --sort-keys --color-output \
         --monochrome-output --compact-output --slurp --exit-status --raw-input --tab --indent: --arg: \
         --argjson: --seq --stream --unbuffered --version --help",
    ),
    known(
        &["strings"],
        "-afow -n: -t: -e: -s: --all --bytes: --radix: --encoding: --print-file-name --version --help",
    ),
    known(
        &["nl"],
        "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-width: \
         --number-separator: --starting-line-number: --version --help",
    ),
    known(
        &["od"],
        "-abcdDefFhHiIlLoOsvxX -A: -j: -N: -t: --address-radix: --skip-bytes: --read-bytes: --format: \
         --output-duplicates --version --help",
    ),
    known(
        &["base64"],
        "-diD -w: -b: --decode --ignore-garbage --wrap: --version --help",
    ),
    known(
        &["cmp"],
        "-blsz -i: -n: --print-bytes --verbose --quiet --silent --ignore-initial: --bytes: --version --help",
    ),
    known(
        &["comm"],
        "-123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated --version --help",
    ),
    known(
        &["paste"],
        "-sz -d: --serial --delimiters: --zero-terminated --version --help",
    ),
    known(
        &["stat"],
        "-LftlqnrsxF -c: --format: --printf: --dereference --file-system --terse --cached --version --help",
    ),
    known(
        &["file"],
        "-bhLiIkNnprsvzZ0 -F: -e: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference \
         --keep-going --separator: --extension --apple --raw --version --help",
    ),
    known(
        &["md5sum", "sha1sum", "sha256sum", "sha512sum"],
        "-bctwz --binary --check --text --tag --zero --status --quiet --strict --warn --ignore-missing --version --help",
    ),
    known(&["xxd"], "+ -abeipruEC"),
    known(&["hexdump"], "-bcCdovx -n: -s:"),
    known(
        &["less"],
        "-NRSFXiIneEgsmMrcqQ --chop-long-lines --quit-if-one-screen --raw-control-chars --version --help",
    ),
    known(&["more"], "-dlfpcsu --version --help"),
    known(
        &["bat"],
        "-pnAfuP -l: -r: -H: --plain --number --show-all --paging: --color: --style: --language: --line-range: \
         --decorations: --theme: --version --help",
    ),
    known(
        &["zcat"],
        "-fhLqv --force --quiet --verbose --version --help",
    ),
    known(
        &["du"],
        "-aAbcDhHklLmPsSx0 -B: -d: -t: --all --apparent-size --total --human-readable --si --summarize \
         --max-depth: --exclude: --threshold: --block-size --dereference --one-file-system --separate-dirs \
         --time --time-style --inodes --null --bytes --version --help",
    ),
    known(
        &["shuf"],
        "-ezr -i: -n: -o> --echo --input-range: --head-count: --output> --random-source< --repeat \
         --zero-terminated --version --help",
    ),
    known(
        &["tree"],
        "-adfilnpsughDFqNQrtUcCASvXJx -L: -P: -I: -H: -T: -o> --noreport --charset: --filelimit: --dirsfirst \
         --filesfirst --prune --du --si --gitignore --matchdirs --ignore-case --inodes --device --timefmt: \
         --sort: --fromfile --metafirst --version --help",
    ),
    known(
        &["tee"],
        "-aip --append --ignore-interrupts --output-error --version --help",
    ),
    known(
        &["touch"],
        "-acfhm -d: -t: -r< --no-create --date: --reference< --time: --no-dereference --version --help",
    ),
    known(
        &["truncate"],
        "-co -s: -r< --no-create --io-blocks --size: --reference< --version --help",
    ),
    known(
        &["mkdir"],
        "-pvZ -m: --parents --verbose --mode: --context --version --help",
    ),
    known(
        &["rm"],
        "-dfiIrRvPxW --force --interactive --one-file-system --no-preserve-root --preserve-root --recursive --dir \
         --verbose --version --help",
    ),
    known(
        &["rmdir"],
        "-pv --parents --verbose --ignore-fail-on-non-empty --version --help",
    ),
    known(&["unlink"], "--version --help"),
    known(
        &["cp"],
        "-adfHilLnPpRrsTuvxZcX -t> --archive --force --interactive --link --symbolic-link --dereference \
         --no-dereference --no-clobber --preserve --no-preserve --recursive --reflink --sparse: --update \
         --verbose --one-file-system --no-target-directory --attributes-only --remove-destination \
         --strip-trailing-slashes --context --target-directory> --version --help",
    ),
    known(
        &["mv"],
        "-finTuvZh -t> --force --interactive --no-clobber --no-target-directory --update --verbose --context \
         --exchange --strip-trailing-slashes --target-directory> --version --help",
    ),
    known(
        &["ln"],
        "-dFfiLnPrsTvhw -t> --directory --force --interactive --logical --no-dereference --physical --relative \
         --symbolic --no-target-directory --verbose --target-directory> --version --help",
    ),
];
