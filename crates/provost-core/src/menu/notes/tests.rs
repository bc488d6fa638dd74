use super::*;

#[test]
fn p13_notes_begin_with_what_is_to_be_done() {
    for text in [
        "add logs",
        "add a comment to the migration",
        "keep the logs",
        "please keep the logs",
        "remove the old cache",
        "update all of the lock files",
        "Rename this branch, too, please",
    ] {
        assert!(begins(text), "{text}");
    }
    for text in [
        "use staging",
        "use staging only",
        "keep the logs",
        "please keep the logs",
        "Keep the logs, thanks!",
        "keep the logs and the traces",
        "add logs and keep the old files",
        "add logs. Keep the old files.",
        "use a.example.org",
        "use bob@example.org",
        "use --dry-run",
        "add a timeout of 5 seconds",
        "set the retries to 3",
        "dry-run only",
        "dry run",
        "remove this branch",
        "rename /tmp/a to /tmp/b",
    ] {
        assert!(is_instruction(text), "{text}");
    }
}

/// Most of these are in no list: they are none of the few instructions that are.
#[test]
fn p13_what_is_not_clearly_an_instruction_is_none() {
    for group in [
        "übermorgen | après-demain | dopodomani | послезавтра | 后天 | 明後日 | 月曜日 | 来週 | 下周 | 다음 주 | 两个小时后",
        "y media | half past works | next sprint | un momento | einen Moment | un instant | soon | ok | sure | yes",
        "abbrechen | stoppen | annulez | arrêtez tout | cancelar | cancele | annulla | fermati | anuluj | стоп | отмена",
        "中止 | 取消 | 停止 | 保留 | 취소 | توقف | iptal | let's discuss | I have concerns | out of the question",
        "I have a question about this | get Anna's ok first | the freeze begins in an hour and ends on the third day after that",
        "keep it as it is | keep it | keep this | keep off | keep waiting | keep everything | update me | add up to a problem",
        "use cases | restore points | update failed | log out | set up a call | fix the tests first | create a ticket first",
        "keep the logs, let us discuss this | remove the user data, that is dangerous | keep the logs but stop",
        "keep the logs\nabbrechen | keep the logs (abbrechen) | keep the logs - abbrechen | keep the logs: abbrechen",
        "keep the logs and abbrechen | keep the logs and discuss it | keep the logs until Anna agrees | add logs if Anna agrees",
        "remove the user data that is dangerous | keep the logs, not this | keep the logs, do not run it | use staging tomorrow",
        "keep the change for the next sprint | add this to the backlog | remove the request | keep the ticket open | disable the agent | keep prod untouched",
        "make sure Anna agrees | run it tomorrow | ensure the CTO agrees | ask Anna | thanks | please | add | keep |  | , | and",
    ] {
        for text in group.split(" | ") {
            assert!(!is_instruction(text), "{text}");
        }
    }
}

#[test]
fn p13_without_a_separator_more_may_be_a_remark() {
    for group in [
        "ore | e meia | prod boxes are affected | fix commits are missing | use cases | with Anna in the room",
        "do 8 godzin | do 10 minut | do 8 hodin | do 11 | do 12 às 10h | add 2 more | keep the 5pm slot",
        "keep failing | keep crashing on CI | do fail on my machine | use it in production | restore points",
        "benutzen das gerade noch | verwenden das noch | write errors in the log | sichere Server | update calls today",
        "deja approuvés | with errors | without approval | 但是下午比较好 | 请稍等 | garde les journaux | только так",
        "lass es | laisse tomber | lascia perdere | mach es nicht | ne fais pas ça | never do this | avoid it, 3 is meant",
        "keep the date for tomorrow | add nothing | add ons would break | add ins are outdated | add up to a problem",
        "keep the logs, 3 is what I mean | add | keep | add risk | add latency",
    ] {
        for text in group.split(" | ") {
            assert!(!begins(text), "{text}");
        }
    }
}
