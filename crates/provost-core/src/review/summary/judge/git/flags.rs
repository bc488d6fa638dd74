//! The flags of git that are known. Any other may name a program, or a file that is written.

use super::super::{Word, args};

/// Flags before the subcommand, without a value and with one.
const GLOBAL: &str = "-p --paginate -P --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks \
    --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path \
    --info-path --exec-path --version -v --help -h";
const GLOBAL_VALUED: [&str; 6] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
];
/// The same, of which it is not known what they lead to.
const GLOBAL_ODD: [&str; 3] = ["--attr-source", "--shallow-file", "--super-prefix"];

/// Long flags of subcommands, written out, without `no-`. What any of them risks in one subcommand, such as
/// `--force` or the file of `--output`, is judged there.
const LONG: &str = "3way no-ext-diff output output-directory abbrev abbrev-commit abbrev-ref abort absolute-git-dir add add-header after after-context \
    aggressive ahead-behind all all-match allow-binary-replacement allow-empty allow-empty-message \
    allow-overlap allow-unknown-type allow-unrelated-histories also-filter-submodules always amend \
    ancestry-path anchored and annotate annotate-stdin append apply atomic attach author author-date-order \
    auto auto-gc auto-maintenance autosquash autostash bare base basic-regexp batch batch-all-objects \
    batch-check batch-command before before-context binary bisect bisect-all bisect-vars boundary branch \
    branches break break-rewrites broken buffer build-options cache cached candidates cc check checkout \
    cherry cherry-mark cherry-pick children chmod cleanup clear-decorations color color-by-age color-lines \
    color-moved color-moved-ws color-words column combined-all-paths commit committer \
    committer-date-is-author-date compact-summary conflict connectivity-only contains contents context \
    continue copy count cover-from-description cover-letter create create-reflog creation-factor cruft \
    cumulative current dangling date date-order dd debug decorate decorate-refs decorate-refs-exclude \
    deduplicate deepen default default-prefix delete deleted dense depth dereference description-file detach \
    diff-algorithm diff-filter diff-merges directory dirstat dirstat-by-file dirty disambiguate \
    discard-changes disk-usage dissociate do-walk dry-run dst-prefix edit edit-description edit-todo email \
    empty empty-directory encoding eol error-unmatch exact-match exclude exclude-existing exclude-from \
    exclude-hidden exclude-per-directory exclude-promisor-objects exclude-standard exists exit-code \
    expand-tabs expire extended-regexp ff ff-only file filename-max-length files files-with-matches \
    files-without-match filter find-copies find-copies-harder find-object find-renames first-parent \
    fixed-strings fixup flags follow follow-symlinks follow-tags force force-create force-if-includes \
    force-in-body-from force-rebase force-with-lease fork-point format from full full-history full-index \
    full-name full-tree function-context get-url git-common-dir git-dir git-path glob gpg-sign graph grep \
    group guess guess-remote hard hardlinks hash head header heading heads help histogram human-readable \
    ignore-all-space ignore-blank-lines ignore-case ignore-cr-at-eol ignore-date ignore-errors \
    ignore-if-in-upstream ignore-matching-lines ignore-missing ignore-other-worktrees ignore-removal \
    ignore-rev ignore-revs-file ignore-skip-worktree-bits ignore-space-at-eol ignore-space-change \
    ignore-submodules ignore-unmatch ignore-unmerged ignore-whitespace ignored in-commit-order in-reply-to \
    inaccurate-eof include include-root-refs include-untracked incremental indent-heuristic independent \
    index init initial-branch inline intent-to-add inter-hunk-context interactive interdiff into-name \
    invert-grep invert-match ipv4 ipv6 irreversible-delete is-ancestor is-bare-repository is-inside-git-dir \
    is-inside-work-tree is-shallow-repository ita-invisible-in-index ita-visible-in-index jobs keep \
    keep-base keep-cr keep-empty keep-index keep-largest-pack keep-non-patch keep-redundant-commits \
    keep-subject killed left-only left-right line-number line-porcelain line-prefix list local local-user \
    lock log log-size long lost-found mailmap mainline match max-age max-count max-cruft-size max-depth \
    max-parents merge merge-base merged merges message message-id min-age min-parents minimal mirror mixed \
    modified more move multiple naked name name-objects name-only name-status negotiate-only negotiation-tip \
    non-matching not notes null numbered numbered-files numstat object-format object-only objects \
    objects-edge octopus omit-empty oneline only only-matching onto or origin orphan others ours \
    output-indicator-context output-indicator-new output-indicator-old overlay overwrite-ignore parents \
    patch patch-format patch-with-raw patch-with-stat path path-format pathspec-file-nul pathspec-from-file \
    patience peel-tag perl perl-regexp pickaxe-all pickaxe-regex points-at porcelain post-rewrite prefetch \
    prefix preserve-merges pretty progress prune prune-tags push-option python quiet quit quoted-cr \
    range-diff raw reapply-cherry-picks reason rebase rebase-merges rebasing recount recurse-submodules \
    recurse-submodules-default recursive reedit-message ref ref-format reference reference-if-able refetch \
    reflog reflogs refmap refresh refs regexp-ignore-case reject reject-shallow relative relative-date \
    remerge-diff remote remote-submodules remotes rename-empty renames renormalize repo rerere-autoupdate \
    reroll-count reschedule-failed-exec reset-author reset-author-date resolve-undo resolved retry \
    reuse-message reverse revs revs-only rfc right-only root rotate-to scissors score-debug server-option \
    set-upstream set-upstream-to sha1-name shallow-exclude shallow-since shallow-submodules shared shell \
    short shortstat show-cdup show-current show-current-patch show-email show-forced-updates show-function \
    show-linear-break show-name show-notes show-number show-object-format show-prefix show-pulls \
    show-signature show-stash show-stats show-superproject-working-tree show-toplevel sign signature \
    signature-file signed signoff simplify-by-decoration simplify-merges since single-branch skip skip-to \
    soft sort source sparse sq squash src-prefix stage staged start-number stat stat-count stat-graph-width \
    stat-name-width stat-width status stdin stdout strategy-option strict subject-prefix submodule \
    submodule-prefix suffix summary symbolic symbolic-full-name symref tags tcl term-new term-old text \
    textconv theirs thin thread threads timestamp to topics topo-order track trailer undefined unidiff-zero \
    unified union unmerged unordered unreachable unset-upstream unshallow until untracked untracked-files \
    update update-head-ok update-refs update-shallow use-bitmap-index use-mailmap utf8 verbose verify \
    verify-signatures version walk walk-reflogs warn-embedded-repo whitespace with with-tree without \
    word-diff word-diff-regex word-regexp worktree worktree-attributes write-commit-graph write-fetch-head \
    ws-error-highlight zero-commit";

/// How much of the arguments a flag before the subcommand takes.
pub(super) struct Global {
    pub(super) words: usize,
    pub(super) known: bool,
}

pub(super) fn global(flag: &str) -> Global {
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    let glued = name.len() < flag.len();
    let valued = GLOBAL_VALUED.contains(&name);
    Global {
        words: 1 + usize::from(!glued && (valued || GLOBAL_ODD.contains(&name))),
        known: valued || is_in(GLOBAL, name),
    }
}

/// Every long flag of the subcommand is known. Others decide about those of `config`.
pub(super) fn are_known(command: &str, args: &[Word]) -> bool {
    command == "config" || args::flags(args).all(|flag| !flag.starts_with("--") || is_known(flag))
}

fn is_known(flag: &str) -> bool {
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    let name = name.trim_start_matches("--");
    is_in(LONG, name)
        || name
            .strip_prefix("no-")
            .is_some_and(|name| is_in(LONG, name))
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == name)
}
