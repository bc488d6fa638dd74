//! What decides, and what only looks as if it did.

use proptest::prelude::*;

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "what a table expects")]
fn reply(code: Code, text: Option<&str>) -> Result<Reply, Unclear> {
    Ok(Reply {
        code,
        text: text.map(str::to_owned),
        marked: Marked::No,
    })
}

fn as_marked(read: Result<Reply, Unclear>) -> Result<Reply, Unclear> {
    read.map(|reply| Reply {
        marked: Marked::Apart,
        ..reply
    })
}

fn surely(read: Result<Reply, Unclear>) -> Result<Reply, Unclear> {
    read.map(|reply| Reply {
        marked: Marked::Surely,
        ..reply
    })
}

#[test]
fn replies_are_read_as_the_menu_says() {
    for (text, expected) in [
        ("1", reply(Code::Once, None)),
        ("  2\n", reply(Code::Session, None)),
        ("3", reply(Code::Deny, None)),
        ("3 too risky", reply(Code::Deny, Some("too risky"))),
        (
            "3 ```rm -rf``` is too risky",
            reply(Code::Deny, Some("```rm -rf``` is too risky")),
        ),
        (
            "3 PM is too late",
            reply(Code::Deny, Some("PM is too late")),
        ),
        ("4 add logs", reply(Code::Note, Some("add logs"))),
        (
            "4\tadd logs\n keep the traces ",
            reply(Code::Note, Some("add logs\n keep the traces")),
        ),
        ("5 npm test", reply(Code::Change, Some("npm test"))),
        (
            "5 npm ci\nnpm test",
            reply(Code::Change, Some("npm ci\nnpm test")),
        ),
        ("6", reply(Code::Always, None)),
        ("1\nthanks", reply(Code::Once, None)),
        ("1\n1", reply(Code::Once, None)),
        ("4", Err(Unclear::TextNeeded(Code::Note))),
        ("4\nadd logs", Err(Unclear::TextNeeded(Code::Note))),
        ("5  ", Err(Unclear::TextNeeded(Code::Change))),
        ("", Err(Unclear::NoCode)),
        ("9", Err(Unclear::NoCode)),
        ("0", Err(Unclear::NoCode)),
        ("12", Err(Unclear::NoCode)),
        ("1.", Err(Unclear::NoCode)),
        ("1️⃣", Err(Unclear::NoCode)),
        ("١", reply(Code::Once, None)),
        ("۳", reply(Code::Deny, None)),
        ("६", reply(Code::Always, None)),
        ("٤: احتفظ", Err(Unclear::unmarked(Code::Note, "احتفظ"))),
        ("٤ yes: احتفظ", surely(reply(Code::Note, Some("احتفظ")))),
        ("٤ احتفظ", Err(Unclear::unmarked(Code::Note, "احتفظ"))),
        (
            "5 - npm test",
            as_marked(reply(Code::Change, Some("npm test"))),
        ),
        (
            "5 : npm test",
            as_marked(reply(Code::Change, Some("npm test"))),
        ),
        (
            "3 — too risky",
            as_marked(reply(Code::Deny, Some("too risky"))),
        ),
        (
            "3: too risky",
            as_marked(reply(Code::Deny, Some("too risky"))),
        ),
        ("4: add x", as_marked(reply(Code::Note, Some("add x")))),
        ("4 – add x", as_marked(reply(Code::Note, Some("add x")))),
        ("4) add x", as_marked(reply(Code::Note, Some("add x")))),
        ("4：add x", as_marked(reply(Code::Note, Some("add x")))),
        ("4 yes: ore", surely(reply(Code::Note, Some("ore")))),
        ("4: Yes: ore", surely(reply(Code::Note, Some("ore")))),
        ("4 YES : ore", surely(reply(Code::Note, Some("ore")))),
        (
            "4 yes：ログを残して",
            surely(reply(Code::Note, Some("ログを残して"))),
        ),
        (
            "5 yes: make it",
            surely(reply(Code::Change, Some("make it"))),
        ),
        ("3 yes: no", reply(Code::Deny, Some("yes: no"))),
        ("1 yes: ok", Err(Unclear::NotAlone(Code::Once))),
        ("4 yes:", Err(Unclear::TextNeeded(Code::Note))),
        ("4 yes: 2 no", Err(Unclear::Prose(Code::Note))),
        ("4 yes: tomorrow", Err(Unclear::Prose(Code::Note))),
        ("4 yes: why?", Err(Unclear::Prose(Code::Note))),
        ("4 yes", Err(Unclear::unmarked(Code::Note, "yes"))),
        ("4: ore", Err(Unclear::unmarked(Code::Note, "ore"))),
        ("4. keep the logs", reply(Code::Note, Some("keep the logs"))),
        ("4, keep the logs", reply(Code::Note, Some("keep the logs"))),
        ("4. Stock", Err(Unclear::unmarked(Code::Note, "Stock"))),
        ("4, or five", Err(Unclear::Prose(Code::Note))),
        ("4: 30", Err(Unclear::Prose(Code::Note))),
        ("4: 30pm works", Err(Unclear::Prose(Code::Note))),
        ("4: why?", Err(Unclear::Prose(Code::Note))),
        ("4: no", Err(Unclear::Prose(Code::Note))),
        ("4:", Err(Unclear::TextNeeded(Code::Note))),
        ("5:", Err(Unclear::TextNeeded(Code::Change))),
        ("4:30", Err(Unclear::NoCode)),
        ("4.5", Err(Unclear::NoCode)),
        ("1:", Err(Unclear::NoCode)),
        ("4 -", Err(Unclear::TextNeeded(Code::Note))),
        ("4 caf\u{fffd}", Err(Unclear::Unreadable)),
        ("1\n\u{fffd}3", Err(Unclear::Unreadable)),
        ("yes", Err(Unclear::NoCode)),
        ("-1", Err(Unclear::NoCode)),
    ] {
        assert_eq!(parse(text), expected, "{text:?}");
    }
    let long = format!("4 {}", "x".repeat(LONGEST_TEXT + 1));
    assert_eq!(parse(&long), Err(Unclear::TooLong));
}

#[test]
fn the_reasons_are_those_of_the_contract() {
    for (unclear, code, start) in [
        (Unclear::NoCode, "invalid_code", "invalid code"),
        (
            Unclear::NotAlone(Code::Once),
            "invalid_code",
            "invalid code",
        ),
        (Unclear::Prose(Code::Note), "invalid_code", "invalid code"),
        (
            Unclear::unmarked(Code::Note, "ore"),
            "invalid_code",
            "invalid code: it is not clear that you allow it with what follows 4 as its note; if you do, send `4 yes: ore`",
        ),
        (Unclear::Several("3".into()), "invalid_code", "invalid code"),
        (Unclear::Unreadable, "invalid_code", "invalid code"),
        (
            Unclear::TextNeeded(Code::Change),
            "payload_required",
            "payload required",
        ),
        (
            Unclear::GoesOn(Code::Change),
            "payload_required",
            "payload required",
        ),
        (
            Unclear::OpenFence(Code::Note),
            "payload_required",
            "payload required",
        ),
        (Unclear::TooLong, "payload_too_long", "payload too long"),
    ] {
        assert_eq!(unclear.as_str(), code);
        assert!(unclear.to_string().starts_with(start), "{unclear}");
    }
}

/// Lines that begin with a digit and answer something else than the menu, with ` | ` between them.
const PROSE: &[&str] = &[
    // 1, 2 and 6 stand alone.
    "4 ore | 4 e meia | 4 point réunions | 4 might work, I am in meetings until then | 4 Freigaben fehlen noch | \
     4 prod boxes are affected | 4 点再说 | 4 po południu | 4 buçukta bakarım | 4 بعد الظهر أفضل | 4 시로 미뤄 주세요 | \
     4 ce soir plutôt | 4 vanmiddag | 4 пополудни | 4 r u sure | 4 new alerts since you asked, hold",
    "6 PM would be better | 2 minutes please | 1 question first: why? | 1 but not on prod | \
     1 yes | 2 ok | 6 always | 1 Anhang | 1 . | 1 👍 | 2 , please | 6 months is too long | 1 3 | \
     2\tfine | 1\u{a0}ok | １ 質問があります | 1 quick thing | 2 Fragen vorab | 6 Uhr passt | 1 ```",
    // times
    "4 PM would be better | 4 pm | 4 p.m. works | 4 P.M. | 4 a.m. | 5 am | 5 o'clock | \
     5 o’clock is fine | 4 Uhr wäre besser | 5 Uhr | 4 heures | 5 h | 4 h 30 | 4 horas | \
     5 de la tarde | 4 du matin | 5 в 17:00 | 4 часа дня | 5 вечера | 4 утра | 4 時に | 4 時 | 5 時半 | \
     4 点半 | 5 點 | 4 مساء | 5 صباحًا | 4 in the afternoon | 5 in the morning is fine | 4 : 30 | \
     4 30 PM | 4 30 | 5 bis 6 Uhr | 4 - 5 pm | 4 or 5 PM | 4 at 5 pm | 5 saat | 4 uur | 5 timmar | \
     4 kl 10 | 4 p. m. | 4 h30 | 5 Uhr30 | 4 時頃 | 5 giờ | 4 시에 | 5 시 30분",
    // units
    "4 minutes | 4 minutes please | 5 min | 5 min. | 4 mins! | 5 more minutes | 4 full days | \
     4 working days | 4 days | 4 hours and it is done | 5 seconds | 5 % less | 5 % | 5 ％ | \
     4 percent | 4 € | 5 euros each | 4 people asked | 5 files are too many | 4 things first | \
     5 times already | 4 x 100 | 4 times | 5 GB | 4 Tage | 4 Minuten noch | 5 Stunden | \
     4 minutos | 5 jours | 4 semaines | 5 минут | 4 минуты | 5 дней | 4 секунды | 4 分 | 4 分待って | \
     5 分後 | 5 分钟 | 4 小时 | 5 時間ください | 4 日 | 5 天 | 4 个文件 | 5 دقائق | 4 ساعات | 5 ימים | 4 דקות | \
     5 dakika | 4 minuter | 5 minuti | 4 dni | 5 perc | 4 мин | 5 분만 | 4 시간 | 4 and a half hours | \
     4 1/2 hours | 4 000 files | 4 minute-long break | 5 min/day | 4 attachments | 5 Anhänge | \
     4 \u{200b}PM | 4\u{2009}minutes | 4 ＰＭ | 5 MINUTES | 4 \u{200f}دقائق",
    // dates
    "5 Nov | 5 Nov 2026 | 4 November | 5 of November | 4 de noviembre | 5 novembre 2026 à 10:00 | \
     4 März | 5 марта | 4 ноября 2026 г. | 4 月 5 日 | 5 月 | 5 号 | 4 نوفمبر | 5 Kasım | 4 tomorrow | \
     5 Monday | 4 mañana | 5 listopada | 4 november 2026 klo 10 | 5 5 2026 | 4 th of July | \
     4 11 2026 | 5 11/2026",
    // ranges, sums and second thoughts
    "4 or 5 | 4 oder 5 | 4 and 5 | 4 - 5 | 4 + 1 | 5 / 6 | 4 ou 5 | 4 или 5 | 4 5 | 5 6",
    // the same behind a separator
    "4 - 5pm | 4 – 17h | 4: 30pm works better | 4 - 4:30pm | 4 - 5ish | 4) 5pm | 4 - 11月 | 4 - Nov | 4 - Monday | \
     4: Freitag | 4 - tomorrow | 5 - 10min please | 5 - 6pm | 5 - November is too early | 4 - five works for me",
    // refusals
    "4: never mind | 4: nevermind | 4: not approved | 4: doch nicht | 4: mejor no | 4: finalement non | 4: не надо | \
     4: do not run this | 4: I do not agree | 4: please do not run this before I have checked it | 4: isn't needed | \
     4: lass es | 4: laisse tomber | 4: lascia perdere | 4: cancel that | 4: rejected | 4: 不要运行 | 4: やめて | \
     4: run nothing until I have checked it | 4 never do this | 4 ne fais pas ça | 4 avoid it, 3 is what I mean",
    // remarks that begin as notes of some language do
    "4 keep your hands off | 4 keep your fingers off prod | 4 preserve the status quo | 4 use a different approach | \
     4 do 8 godzin | 4 do 11 | 4 keep failing | 4 use it in production | 4 write errors in the log | 4 with errors | \
     4 restore points | 4 deja approuvés | 4 但是下午比较好 | 4 only on Fridays | 4 lass es | 4 laisse tomber",
    // questions
    "4 days? | 4 why do you need it | 4 why? | 5 really? that one | 5 is that safe? | \
     4 keep them, ok? | 5 ¿por qué? | 4 warum | 5 pourquoi faire | 4 почему | 5 なぜ | 4 大丈夫ですか | \
     5 可以吗 | 4 لماذا | 4 هل هذا آمن؟ | 5 what is this | 4 what?! | 5 (are you sure?) | 5 왜 | 4 do you need it | 5 is this safe | 4 ist das nötig | 5 could you wait | \
     4 何の件",
    // two codes
    "1\nOption three | 1\nNumber three please | 1\ndrei | 1\n三 | 1\n三番 | 1\n\nтри | \
     1\n3 | 1\n\n3 | 1\n3 no | 3\n1 | 1\n2 | 6\n\n1 | 1\nsorry, I meant\n3 | \
     1\nwait, no\n3 too risky | 1\nSorry\n3 too risky | 1\n4 | 4 add logs\n1 | \
     4 add logs\n\n5 npm test | 5 npm test\n\n5 rm -rf / | 1\r3 | 1\u{2028}3 | 1\u{b}3 | 1\n２ | \
     1\n\u{200f}3 | 1\n1 question first | 1\nThanks\n3 no | 1\nThanks\nBob\n3",
    // a change of mind, in whatever shape
    "1\nSorry\nWrong number\n3 too risky | 6\nBest\nBob\n3 no | 1\nOk\nfirst\n4 use staging | \
     1\n\nThanks,\nBob\n\nPS: sorry, I read it again:\n3 too risky, do not run it | \
     1\nNein\nfalsch\n3 zu riskant | 1\n等等\n说错了\n3 太危险 | 1\nعفوا\nأقصد\n٣ خطر | \
     1\n3) no | 1\n3. no | 1\n*3* | 1\n- 3 no | 1\n(3) | 1\n3️⃣ | 1\n③ | 1\n3: no | 1\n\"3\" | \
     1\n\nBob Smith\nACME\n5 Main Street | 1\n३ | 1\n#3",
    // units and times that no list has
    "5 Werktage | 4 Arbeitstage | 5 Kalendertage | 5 Minütchen | 4 Wochenenden | 5 minuutjes | \
     4 uurtjes | 4 werkdagen | 5 arbetsdagar | 5 営業日 | 5 영업일 | 5 iş günü | 5 рабочих дней | \
     4 календарных дня | 5 минуточек | 5 minutek | 5 minutitos | 4 dakikaya | 4 घंटा | \
     5 Viertelstunden | 5 nights | 4 weekends | 5 sprints | 4 fortnights | 5 calendar days | \
     4 consecutive days | 4 solid hours | 5 entire days | 5 volle Tage | 4 ganze Stunden | \
     5 longues minutes | 4 CET works for me | 5 UTC | 4 EST is better | 5 sharp | 4 later today | \
     5 early tomorrow | 4 late afternoon | 5 or six | 4 to five | 5 vor zwölf | 5 past ten | \
     4 or five minutes | 4 bis fünf Tage | 5 til 6 | 5 thru 7 | 4 through 6 | 4 EOD | 5 º | 4 ª | \
     4 ème | 4 Kas | 5 lis | 5 ott | 4 gen | 5 gru | 4 paź | 5 kwi | 4 Kasım'da | 4 set | 5 ağu",
    // sentences about so many things
    "5 would be better | 4 works better for me | 4 servers are down | 4 is too early | \
     5 tables would be dropped by this | 4 colleagues disagree | 4 eyes principle please | \
     5 errors in the log | 4 passt besser | 5 va mieux | 4 me viene mejor | 5 pods | \
     5 Kollegen müssen zustimmen | 4 good reasons against it | 5 approvals are still open",
    // questions without a usual mark
    "4 staging?🤔 | 4 is prod ok?🙏 | 5 npm test?👍 | 4 really?, then ok | 4 safe?* | 4 ok?-bob | \
     4 which database is it | 4 perché | 5 por qué | 4 cosa fa | 5 wofür brauchst du das | \
     4 welche Datenbank | 5 czy to bezpieczne | 4 po co | 5 क्या यह सुरक्षित है | 5 что это | 4 когда | \
     5 güvenli mi | 4 bu nedir | 5 ما هذا | 4 كيف | 5 谁批准的 | 4 哪个数据库 | 4 誰が | 5 どの DB | 4 뭐야 | \
     4 vad är det | 5 wat is dit | 4 c'est quoi | 5 quel serveur | 4 où | 5 onde | 4 qual banco | \
     4 can this wait | 5 does it delete anything | 4 is it safe | 4 am I the right person | \
     5 any idea why | 4 since when | 5 isn't that prod | 4 aren't we frozen | 4 where does it run",
    "5: no | 5: never mind | 5: please don't run this | 5: not approved | 5: denied | 5: nein | 5: stop | \
     5: do not run | 5: please do not run it | 5: this should not run | 5: absolutely not | 5: hell no | \
     5: maybe later | 5: same but tomorrow | 4: first thing tomorrow | 4: some time tomorrow | \
     4: kommenden Montag | 4: ce soir | 4: one hour | 4: an hour | 4 - half an hour | 4: I choose 3 | 4: use 3 | \
     4: rather tomorrow | 4: yes but tomorrow | 4: after lunch | 4: end of day | 4: à 17h | 4: une heure | \
     4: stasera | 4: max 5 | 4: >5 | 4: let's say 5 | 4: I take 3 | 4: change to 3 | 4: hang on | 4: one moment | \
     4: halt | 4: too dangerous | 4: bad idea | 4: ask Bob first | 4: call me first | 4: let me check | \
     4: blocked | 4: disapproved",
    "5: no, do not send this | 4: sorry, I meant 3 | 4: I mean 3 | 4: make that a 3 | 4: oops, 3",
    // corrections and delays anywhere in the text
    "5: sorry, I meant 3 | 5: oops, 3 | 5: please deny this | 5: make that a 3 | 5: bitte ablehnen | 5: hold off | \
     4: sorry, I meant 3, deny | 4: please deny | 4: sorry, 3 please | 4: option 3 please | 5: pardon, je voulais dire 3 | \
     5 sorry, I meant 3 | 4: 请拒绝 | 4: in the afternoon | 4 - in the afternoon | 4: next week | 4: at noon | 5: at noon | \
     4: hold off | 4: postpone | 4: postpone this | 4: nah | 4 - maybe 5 pm | 4: please wait for Anna | 4: run it later | \
     4: wait 5 minutes, then run it | 4: 稍后再说 | 5: please later",
];

#[test]
fn p13_every_line_of_a_typed_note_is_judged() {
    for text in [
        "4 ok\nwhy do you need it?",
        "4 ok\n\nis prod safe?",
        "5 npm test\nis that ok with you?",
        "4: Hi Bob\nplease do not run this",
        "4 keep the logs\nnot now",
        "4: keep the logs\nno wait, don't do it",
        "4: keep the logs\n\nSorry, I meant deny",
        "4: ok\nbut not today",
        "4: sure\nDeny",
        "4: fine\nask Anna first",
        "4: hallo\nbitte nicht ausführen",
        "4: bonjour\nne lance pas ça",
        "4: add logs\ntomorrow",
        "4: add logs\nabbrechen",
        "4 add logs\nlet us discuss it",
        "4 yes: add logs\nnot now",
        "4 yes: add logs\nis prod safe?",
        "5: npm test\nno, stop",
        "5: npm test\nwait, please don't",
        "5: npm test\nsorry, I meant 3",
        "5 yes: npm test\nno",
    ] {
        let unclear = parse(text).map_err(|why| why.as_str());
        assert_eq!(unclear, Err("invalid_code"), "{text:?}");
    }
}

#[test]
fn p13_clear_lines_below_a_typed_text_belong_to_it() {
    for text in [
        "4: keep the logs\n\nadd the traces",
        "4 keep the logs\nthanks",
        "4 yes: wie besprochen\nund die Logs behalten",
        "5: npm ci\nnpm test",
        "5: {\"command\":\n\"no, stop\"}",
    ] {
        let said = parse(text).map(|reply| reply.text.unwrap_or_default());
        let (_, expected) = text.split_once(": ").or(text.split_once(' ')).unwrap();
        assert_eq!(said, Ok(expected.to_owned()), "{text:?}");
    }
}

/// Refusals, delays and times that no list has.
#[test]
fn p13_a_note_that_is_not_clearly_an_instruction_is_asked_again() {
    for text in [
        "4: übermorgen",
        "4 - après-demain",
        "4: 后天",
        "4: 다음 주",
        "4 - half past works",
        "4: next sprint",
        "4: abbrechen",
        "4: 取消",
        "4: let's discuss",
        "4: I have concerns",
        "4: out of the question",
        "4 add latency, let us discuss this",
        "4 add risk",
        "4 remove the user data, that is dangerous",
        "4: Ich möchte das erst mit Anna besprechen, bevor hier irgendetwas gelöscht wird",
    ] {
        for breaks in [LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped] {
            let unclear = parse_lines(&[text], breaks).unwrap_err();
            let said = text.trim_start_matches(['4', ' ', ':', '-']);
            let ready = format!("send `4 yes: {said}`");
            assert!(unclear.to_string().ends_with(&ready), "{text} {unclear}");
            assert_eq!(unclear.as_str(), "invalid_code");
        }
    }
}

#[test]
fn p13_prose_that_begins_with_a_digit_decides_nothing() {
    for text in PROSE.iter().flat_map(|group| group.split(" | ")) {
        for (at, read) in [
            parse(text),
            parse_lines(&lines(text), LineBreaks::Seen),
            parse_lines(&lines(text), LineBreaks::Wrapped),
        ]
        .into_iter()
        .enumerate()
        {
            let unclear = read.as_ref().map_err(Unclear::as_str);
            assert_eq!(unclear, Err("invalid_code"), "{text:?} {at}");
        }
    }
}

/// Notes and replacements that are none of these, however they begin.
#[test]
fn p13_texts_of_4_and_5_are_taken() {
    for (code, text) in [
        (Code::Note, "add logs"),
        (Code::Note, "keep the logs"),
        (Code::Note, "update all of the lock files"),
        (Code::Change, "m4 a.m4"),
        (Code::Change, "aws s3 ls"),
        (Code::Note, "please keep the logs"),
        (Code::Change, "npm test"),
        (Code::Change, "./run.sh --days 5"),
        (Code::Change, "curl https://example.com/a?b=1"),
        (Code::Change, "grep -E 'colou?r' a.txt"),
        (Code::Change, "7z x a.zip"),
        (Code::Change, "10.0.0.1"),
        (Code::Change, "-m pytest"),
        (Code::Change, "git log --since=5.days"),
        (Code::Change, "time make"),
        (Code::Change, "date"),
        (Code::Change, "minikube start"),
        (Code::Change, "{\"command\": \"what?\"}"),
        (Code::Change, "[5, 4]"),
        (Code::Change, "$HOME/bin/check"),
    ] {
        let line = format!("{} {text}", code.as_str());
        let expected = reply(code, Some(text));
        assert_eq!(parse(&line), expected, "{line}");
        assert_eq!(
            parse_lines(&[&line], LineBreaks::Wrapped),
            expected,
            "{line}"
        );
        // Between fences everything is meant as it stands.
        let fenced = format!("{}\n```\n{text}\n```", code.as_str());
        assert_eq!(parse(&fenced), surely(expected), "{fenced}");
    }
    for text in [
        "the tests must pass first",
        "an extra line in the log",
        "когда закончишь, напиши",
        "ログを残して",
        "日志要保留",
        "分析してから",
        "加日志",
        "명령만 바꿔",
        "port 8080 only",
        "only on staging",
        "let me know when it is done",
        "wie besprochen",
        "احتفظ بالسجلات",
        "run it on staging, not on prod",
        "keep the logs and do not restart anything",
    ] {
        let unmarked = format!("4 {text}");
        assert_eq!(
            parse(&unmarked).map_err(|why| why.as_str()),
            Err("invalid_code")
        );
        let expected = surely(reply(Code::Note, Some(text)));
        assert_eq!(parse(&format!("4 yes: {text}")), expected, "{text}");
        let asked = Err(Unclear::unmarked(Code::Note, text));
        assert_eq!(parse(&format!("4: {text}")), asked, "{text}");
    }
    for (line, code, text) in [
        ("4: use staging", Code::Note, "use staging"),
        ("4 - keep the logs", Code::Note, "keep the logs"),
        ("5: dry-run only", Code::Change, "dry-run only"),
        ("5: echo not now", Code::Change, "echo not now"),
        ("5: no-op", Code::Change, "no-op"),
        (
            "5: git push --no-verify",
            Code::Change,
            "git push --no-verify",
        ),
        (
            "4: set the retries to 3",
            Code::Note,
            "set the retries to 3",
        ),
    ] {
        assert_eq!(parse(line), as_marked(reply(code, Some(text))), "{line}");
    }
    let fenced = surely(reply(Code::Note, Some("PM\n1 first\n2 second")));
    assert_eq!(parse("4\n```\nPM\n1 first\n2 second\n```\nBob"), fenced);
}

#[test]
fn p13_marks_that_nobody_sees_do_not_matter() {
    for text in [
        "\u{feff}1",
        "1\u{200b}",
        "\u{200e}1\u{200e}",
        "\u{2067}1\u{2069}",
        "\u{202b}1\u{202c}",
        "\u{a0}1\u{a0}",
        "\u{3000}１\u{3000}",
        "\u{200b}\n1",
        "1\u{ad}",
        "\u{61c}1",
        "１",
        "1\n\u{200b}\n\u{a0}",
    ] {
        assert_eq!(parse(text), reply(Code::Once, None), "{text:?}");
    }
    assert_eq!(parse("３ やめて"), reply(Code::Deny, Some("やめて")));
    assert_eq!(
        parse("\u{200f}4 yes: احتفظ"),
        surely(reply(Code::Note, Some("احتفظ")))
    );
    for text in [
        "\u{202e}1",
        "\u{202d}1",
        "1\u{200b}2",
        "6\u{200b}PM",
        "1\u{20e3}",
        "¹",
        "①",
        "Ⅰ",
        "𝟏",
    ] {
        assert_eq!(parse(text), Err(Unclear::NoCode), "{text:?}");
    }
}

#[test]
fn p13_lines_without_a_code_do_not_matter() {
    for below in [
        "Bob",
        "Thanks, Bob",
        "12 is my lucky number",
        "see you at 3",
        "back in 3 minutes",
        "Sent from my iPhone 6",
        "+1 (415) 555-0100",
        "1 (415) 555-0100",
        "Bob\nBefore you print:\n1. Think\n2. Think again",
        "NOTICE:\n(1) This message is for you.\n(2) Any disclosure is prohibited.",
        "Thanks\nBob\nThis message may be read by its addressee alone, and under Section 3 of the Act on Messages nobody else.",
        "\n\nBob Smith\nACME\nMain Street 5\n10115 Berlin",
        "[1] Allow once\n[3] Deny\n[4] Allow once, with a note (reply: 4: your note)",
        "[1] Allow once\n[2] Allow for this session: npm with\nother words\n[6] Allow for 30 days: npm",
        "3.5 GB are free",
        "3D prints look fine",
        "10:30 is fine, too",
        "until 3:30 then",
        "in 3h",
        "Berlin, 3 Nov 2026",
        "Mit freundlichen Grüßen\nHans\nHauptstraße 5",
        "Bob\nFloor 3",
        "Tel. +49 30 5 123456",
        "bob3@example.org",
        "1.",
        "1)",
    ] {
        for breaks in [LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped] {
            let text = format!("1\n{below}");
            assert_eq!(
                parse_lines(&lines(&text), breaks),
                reply(Code::Once, None),
                "{text:?}"
            );
        }
    }
}

#[test]
fn p13_lines_of_our_own_mail_are_no_correction() {
    for below in [
        "Approval: appr_2f31c6",
        "Session: r3",
        "Provost asks: may demo use a3?",
        "Bob\nMain Street 5",
        "see you 3 pm",
        "3点",
    ] {
        let text = format!("1\n{below}");
        let read = parse_lines(&lines(&text), LineBreaks::Typed);
        assert_eq!(read, reply(Code::Once, None), "{text:?}");
    }
}

#[test]
fn p13_a_correction_is_found_by_its_digit() {
    for below in [
        "I meant 3, not 1",
        "Not 1, 3!",
        "make that a 3",
        "Nein, 3 ist richtig",
        "die 3 ist richtig",
        "Non, 3 est correct",
        "عفوا\nأقصد 3",
        "不对，我选3",
        "3番",
        "3번",
        "I meant the 3rd",
        "Option3",
        "Sorry, Nr.3",
        "Bob\n\nSORRY, MEANT 3",
        "Sent from my iPhone\n\nSorry, I meant 3",
        "Sorry, that was a typo, I meant 3",
        "I pressed the wrong key, please take it as 3",
        "I choose 3 today",
        "PS: 3!",
        "→3",
        "1,3",
        "1->3",
        "not 1.3",
        "no, 3 minutes ago I misread it",
        "Bob\nBring 3",
        "Bob\nTake 3",
        "应该是3 点错了",
        "应该选3点错了",
        "Nimm die 3 am besten",
        "Thanks\nVia Telegram I said 3",
        "Approval: 3",
    ] {
        for breaks in [LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped] {
            let text = format!("1\n{below}");
            let read = parse_lines(&lines(&text), breaks);
            assert!(
                matches!(read, Err(Unclear::Several(_))),
                "{text:?} {read:?}"
            );
        }
        let others = lines(below);
        assert!(
            contradiction(&Reply::bare(Code::Once), &others).is_some(),
            "{below:?}"
        );
    }
}

#[test]
fn p13_a_long_sentence_below_an_answer_may_take_it_back_as_well() {
    for below in [
        "I changed my mind, take 3 please, thank you",
        "Ich habe es mir anders überlegt, nimm lieber die 3, danke dir",
        "après réflexion je préfère que tu prennes le 3 pour cette demande",
        "the 3 replicas have all been migrated",
        "Thanks\nBob\nPS: I changed my mind about it, take 3 please",
    ] {
        for breaks in [LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped] {
            let read = parse_lines(&lines(&format!("1\n{below}")), breaks);
            assert!(
                matches!(read, Err(Unclear::Several(_))),
                "{below:?} {read:?}"
            );
        }
    }
}

/// Corrections in words, in every script.
#[test]
fn p13_a_short_line_with_another_number_is_asked_about() {
    for text in [
        "1\n\nSorry, I meant 3.",
        "1\nno, 3",
        "1\nOops, make that 3",
        "1\nQuatsch, ich meine 3",
        "1\n\nPardon, je voulais dire 3",
        "1\nPerdón, quería decir 3",
        "6\nOption 3, sorry",
        "1\nBob\nOption 3",
        "1\n❸ no",
        "1\n৩ না",
        "1\n๓ ไม่",
        "1\nsorry ③",
        "1\n[3]",
        "1\n[ 3 ]",
        "1\n[3] Deny",
        "1\n[1] Allow once\n[3] Deny\n[3] Deny",
        "1\n[1] Allow once\n3 no\n[3] Deny",
        "3\n[1] Allow once",
        "1\nCode:3",
        "3\nno, 1",
        "1\nsee 3 above",
        "1\n\nSorry:\n3 may break prod, ask ops@example.org first",
    ] {
        for breaks in [LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped] {
            let read = parse_lines(&lines(text), breaks);
            assert!(
                matches!(read, Err(Unclear::Several(_))),
                "{text:?} {read:?}"
            );
        }
    }
    let read = parse("3 too risky\nthe db has 2 replicas");
    assert_eq!(read.map(|reply| reply.code), Ok(Code::Deny));
}

#[test]
fn p13_a_signature_below_does_not_hide_a_text() {
    for below in [
        "Best wishes,\nBob",
        "Mit besten Grüßen\nHans",
        "Mit freundlichem Gruß",
        "Met vriendelijke groeten",
        "Pozdrawiam serdecznie",
        "Un saludo cordial",
        "Merci d’avance",
        "Yours faithfully",
        "Bob Smith (Ops)",
        "Bob – Platform Team",
        "Bob 👋",
        "i.A. Hans Meyer",
        "Bob",
        "Bob Smith",
        "bob@example.com",
        "Thanks",
        "thanks a lot,\nBob",
        "Best regards\nBob Smith\nACME GmbH",
        "Mit freundlichen Grüßen\nHans",
        "Cordialement,\nAnne-Marie D'Arc",
        "С уважением,\nИван",
        "Иван Петров",
        "よろしくお願いします\n田中",
        "よろしくお願いします",
        "مع تحياتي\nمحمد",
        "+49 30 123456",
        "Tel. 030 123456",
        "— Bob",
        "Dr. Bob O'Neil",
        "Anna de Vries",
        "João da Silva",
        "Bob Smith | ACME | +49 30 123456",
        "Have a nice day",
        "Cheers Bob",
    ] {
        for (line, expected) in [
            ("4 keep the logs", reply(Code::Note, Some("keep the logs"))),
            ("5 npm test", reply(Code::Change, Some("npm test"))),
        ] {
            for breaks in [LineBreaks::Seen, LineBreaks::Wrapped] {
                let text = format!("{line}\n{below}");
                assert_eq!(parse_lines(&lines(&text), breaks), expected, "{text:?}");
            }
        }
    }
    let long = "4 please keep all of the logs and use the staging database";
    let read = parse_lines(&[long, "Best regards", "Bob"], LineBreaks::Wrapped);
    assert_eq!(read, reply(Code::Note, long.strip_prefix("4 ")));
    let read = parse_lines(&["4 keep the logs,", "best not on prod"], LineBreaks::Seen);
    assert_eq!(read, Err(Unclear::GoesOn(Code::Note)));
    for text in [
        "5 rm -rf /tmp/a\n/tmp/b",
        "5 npm ci\nnpm test",
        "5 npm ci &&\nNpm",
        "5 cat\nREADME",
        "5 echo a\\\nBob",
        "5 rm\n-rf",
        "5 npm test\nbob",
        "5 cargo test --workspace --all-features --all-targets --locked\nFoo",
    ] {
        let read = parse_lines(&lines(text), LineBreaks::Wrapped);
        assert_eq!(read, Err(Unclear::GoesOn(Code::Change)), "{text:?}");
    }
    for text in [
        "4 yes: keep it, but\nnot on Friday",
        "4: keep the logs,\nBob",
        "4 yes: ログを\n残して",
        "4 yes: 保留日志\n不要重启",
        "4 yes: 先备份数据库\n明天再执行",
        "4: keep the logs\nnever",
        "4: keep the logs\nNot Today",
        "4: keep the logs\nNever",
        "4: keep the logs\nTomorrow",
        "4 yes: ログを残して\n田中",
    ] {
        let read = parse_lines(&lines(text), LineBreaks::Seen);
        assert_eq!(read, Err(Unclear::GoesOn(Code::Note)), "{text:?}");
    }
}

#[test]
fn dates_are_dates() {
    for text in [
        "3 Nov 2026",
        "3 November 2026, 10:15",
        "3 novembre 2026 à 10:00",
        "3 марта 2026 г.",
        "3/11/2026 10:00 1",
        "3 de noviembre de 2026",
        "Tue, 3 Nov 2026 10:00:00",
    ] {
        assert!(is_date(text), "{text}");
    }
    for text in [
        "3",
        "3 no",
        "3 November is too early",
        "3 2",
        "3 Nov",
        "3 in march",
        "3 next may",
        "3 days",
        "4 add logs",
    ] {
        assert!(!is_date(text), "{text}");
    }
}

/// The grammar of the menu, said a second time and without regard to words.
fn may_decide(first: &str, code: Code) -> bool {
    let first = first.trim_matches(|c: char| c.is_whitespace() || codes::is_invisible(c));
    let digit = code.as_str();
    let mut chars = first.chars();
    let begins = chars.next().map(|c| plain_digit(c).to_string());
    if begins.as_deref() != Some(digit) {
        return false;
    }
    let rest = chars.as_str();
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || codes::is_invisible(c));
    match code {
        Code::Once | Code::Session | Code::Always => rest.is_empty(),
        Code::Deny => true,
        Code::Note | Code::Change => !rest.is_empty(),
    }
}

proptest! {
    #[test]
    fn only_a_leading_code_decides(text in ".{0,40}") {
        if let Ok(reply) = parse(&text) {
            let first = text.split_whitespace().next().unwrap_or_default();
            let first = first.trim_matches(codes::is_invisible);
            let plain: String = first.chars().map(plain_digit).collect();
            prop_assert!(plain.starts_with(reply.code.as_str()), "{plain:?}");
            let mark = plain.chars().nth(1);
            prop_assert!(mark.is_none_or(|mark| ":：).,".contains(mark)), "{plain:?}");
            prop_assert!(reply.text.is_some() || !reply.code.needs_text());
        }
    }

    #[test]
    fn p13_no_reply_decides_unless_its_first_line_is_of_the_grammar(
        text in "([1-6１]| |\u{a0}|\n|\r|\u{2028}|\u{200b}|\u{200f}|PM|min|Uhr|Nov|days|why|no|add logs|Bob|Thanks|\\?|,|:|```|分){0,12}",
        breaks in prop::sample::select(vec![LineBreaks::Typed, LineBreaks::Seen, LineBreaks::Wrapped]),
    ) {
        let lines = lines(&text);
        if let Ok(reply) = parse_lines(&lines, breaks) {
            let first = lines.iter().find(|line| !codes::is_blank(line)).unwrap();
            let fenced = reply.code.needs_text() && text.contains("```");
            prop_assert!(may_decide(first, reply.code) || fenced, "{first:?} {reply:?}");
            if let Some(said) = reply.text.filter(|_| reply.code.needs_text() && !fenced) {
                prop_assert!(!said.starts_with("PM") && !said.starts_with("Uhr") && !said.ends_with('?'), "{said:?}");
            }
        }
    }
}
