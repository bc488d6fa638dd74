//! Whole replies as clients send them: what each decides, or that it decides nothing.

use provost_core::menu::Code;

use super::super::*;
use crate::channels::email::html;

enum Body {
    Plain(&'static str),
    Html(&'static str),
}
use Body::{Html, Plain};

/// What is expected: a code with its text, or nothing.
type Expected = Option<(Code, Option<&'static str>)>;

const NOTHING: Expected = None;

#[expect(clippy::unnecessary_wraps, reason = "what a table expects")]
const fn bare(code: Code) -> Expected {
    Some((code, None))
}

#[expect(clippy::unnecessary_wraps, reason = "what a table expects")]
const fn with(code: Code, text: &'static str) -> Expected {
    Some((code, Some(text)))
}

fn decided(body: &Body) -> Result<Reply, Misread> {
    match body {
        Plain(text) => read(Some(text), None),
        Html(page) => read(None, Some(&html::text_of(page))),
    }
}

fn check(corpus: &[(&str, Body, Expected)]) {
    for (client, body, expected) in corpus {
        let decided = decided(body);
        let found = decided.as_ref().ok();
        let found = found.map(|reply| (reply.code, reply.text.as_deref()));
        assert_eq!(found, *expected, "{client}: {decided:?}");
    }
}

/// The history below is Gmail's in English where it does not matter.
const OUTLOOK_HEAD: &str =
    "\n\n________________________________\nFrom: Gate <gate@example.com>\nSent: Tuesday\n\n1\n";

#[test]
fn p13_replies_of_real_clients_decide_what_they_say() {
    check(&[
        (
            "Gmail, web, English",
            Plain("1\n\nOn Tue, Nov 3, 2026 at 10:00 AM Gate <gate@example.com> wrote:\n> 3\n"),
            bare(Code::Once),
        ),
        (
            "Gmail, web, HTML with a signature",
            Html(
                "<div dir=\"ltr\">4 keep the logs<br clear=\"all\"><div><br></div>-- <br><div dir=\"ltr\" class=\"gmail_signature\"><div>Bob Smith</div><div>5 Main Street</div></div></div><br><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Tue wrote:</div><blockquote>1</blockquote></div>",
            ),
            with(Code::Note, "keep the logs"),
        ),
        (
            "Gmail, Android, signature right below",
            Html("<div dir=\"auto\">5 npm test</div><div dir=\"auto\">Bob</div>"),
            with(Code::Change, "npm test"),
        ),
        (
            "Outlook for Windows, empty paragraphs",
            Html(
                "<div class=WordSection1><p class=MsoNormal>4 keep the logs<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal>Bob Smith, head of many important things here<o:p></o:p></p><div style='border:none;border-top:solid #E1E1E1 1.0pt'><p class=MsoNormal><b>From:</b> Gate</p></div><p>1</p></div>",
            ),
            with(Code::Note, "keep the logs"),
        ),
        (
            "Outlook, paragraphs without a class",
            Html("<p>5 npm test</p><p>&nbsp;</p><p>The whole department says hello</p>"),
            with(Code::Change, "npm test"),
        ),
        (
            "Outlook for Windows, signature without an empty line",
            Html(
                "<p class=MsoNormal>5 npm test</p><p class=MsoNormal>Bob Smith</p><p class=MsoNormal>ACME GmbH, 5 Main Street</p>",
            ),
            with(Code::Change, "npm test"),
        ),
        (
            "Outlook on the web, signature",
            Html(
                "<div class=\"elementToProof\">4 keep the logs</div><div id=\"Signature\"><p>1 Infinite Loop</p></div><div id=\"appendonsend\"></div><div id=\"divRplyFwdMsg\"><b>From:</b> Gate</div>",
            ),
            with(Code::Note, "keep the logs"),
        ),
        (
            "Outlook, a banner in a table above",
            Html(
                "<table><tr><td>CAUTION: This email originated from outside of the organization. Do not click links.</td></tr></table><div>1</div>",
            ),
            bare(Code::Once),
        ),
        (
            "a banner in plain text",
            Plain("CAUTION: external e-mail. Do not click links.\n\n4 keep the logs\n"),
            with(Code::Note, "keep the logs"),
        ),
        (
            "a banner over several lines, without an empty one",
            Plain(
                "[EXTERNAL EMAIL] This message was sent from outside\nof your organisation.\n3 no\n",
            ),
            with(Code::Deny, "no"),
        ),
        (
            "a banner in a frame",
            Plain(
                "**********\nWARNING: this message is from an external sender\n**********\n\n1\n",
            ),
            bare(Code::Once),
        ),
        (
            "a banner in German",
            Plain(
                "ACHTUNG: Diese E-Mail stammt von außerhalb der Organisation.\n\n5 npm test\n\nHans\n",
            ),
            with(Code::Change, "npm test"),
        ),
        (
            "a banner in French",
            Plain(
                "ATTENTION : courriel externe. Ne cliquez pas.\n\n1\n\nLe mar. 3 nov. 2026 à 10:00, Gate a écrit :\n> 3\n",
            ),
            bare(Code::Once),
        ),
        (
            "a banner in Japanese",
            Plain("【注意】外部からのメールです。\n\n１\n"),
            bare(Code::Once),
        ),
        (
            "a banner in Russian",
            Plain("ВНИМАНИЕ: внешнее письмо, не открывайте ссылки.\n\n3 нет\n"),
            with(Code::Deny, "нет"),
        ),
        (
            "Microsoft's tip of a new sender",
            Plain(
                "You don't often get email from bob@example.com. Learn why this is important\n\n1\n",
            ),
            bare(Code::Once),
        ),
        (
            "Apple Mail, iPhone",
            Plain(
                "1\n\nSent from my iPhone\n\n> On 3 Nov 2026, at 10:00, Gate <gate@example.com> wrote:\n> \n> 3\n",
            ),
            bare(Code::Once),
        ),
        (
            "Apple Mail, iPhone, no empty line",
            Plain(
                "4 keep the logs\nSent from my iPhone\n\n> On 3 Nov 2026, at 10:00, Gate wrote:\n",
            ),
            with(Code::Note, "keep the logs"),
        ),
        (
            "Apple Mail, Mac, HTML",
            Html(
                "<body>2<br id=\"lineBreakAtBeginningOfMessage\"><div><br><blockquote type=\"cite\"><div>On 3 Nov 2026, at 10:00, Gate wrote:</div><div>1</div></blockquote></div></body>",
            ),
            bare(Code::Session),
        ),
        (
            "Apple Mail in German",
            Plain(
                "3 zu riskant\n\nVon meinem iPhone gesendet\n\n> Am 03.11.2026 um 10:00 schrieb Gate <gate@example.com>:\n> 1\n",
            ),
            with(Code::Deny, "zu riskant"),
        ),
        (
            "Thunderbird, below the quote",
            Plain(
                "On 03.11.26 10:00, Gate wrote:\n> may claude use shell.run?\n> 1\n\n3\n\n-- \nBob\n",
            ),
            bare(Code::Deny),
        ),
        (
            "Thunderbird in German, closing right below",
            Plain(
                "4 yes: bitte Logs behalten\nViele Grüße\nHans Meyer\n\nAm 03.11.26 um 10:00 schrieb Gate:\n> 1\n",
            ),
            with(Code::Note, "bitte Logs behalten"),
        ),
        (
            "GMX in German",
            Plain(
                "1\n\nMit freundlichen Grüßen\n\nHans Meyer\nRing 5\n\nGesendet: Dienstag, 03. November 2026 um 10:00 Uhr\nVon: Gate <gate@example.com>\n",
            ),
            bare(Code::Once),
        ),
        (
            "Orange in French",
            Plain("5 npm test\nCordialement,\nAnne\n\n> Message du 03/11/26 10:00\n> De : Gate\n"),
            with(Code::Change, "npm test"),
        ),
        (
            "Gmail in Spanish",
            Plain(
                "4 yes: conserva los registros\nSaludos\n\nEl mar, 3 nov 2026 a las 10:00, Gate (<gate@example.com>) escribió:\n> 1\n",
            ),
            with(Code::Note, "conserva los registros"),
        ),
        (
            "a phone in Japanese",
            Plain(
                "４ yes：ログを残してください\nよろしくお願いします\n田中\n\niPhoneから送信\n\n2026/11/03 10:00、Gate <gate@example.com>のメール:\n> 1\n",
            ),
            with(Code::Note, "ログを残してください"),
        ),
        (
            "Mail.ru in Russian",
            Plain(
                "3 слишком рискованно\n\n-- \nИван\n\nВторник, 3 ноября 2026, 10:00 +03:00 от Gate <gate@example.com>:\n> 1\n",
            ),
            with(Code::Deny, "слишком рискованно"),
        ),
        (
            "Yandex in Russian",
            Plain("1\n\n03.11.2026, 10:00, \"Gate\" <gate@example.com>:\n> 3\n"),
            bare(Code::Once),
        ),
        (
            "Outlook in Arabic, with marks of direction",
            Plain(
                "\u{200f}4 yes: احتفظ بالسجلات\u{200f}\nمع تحياتي\nمحمد\n\nمن: Gate <gate@example.com>\nتم الإرسال: الثلاثاء\n1\n",
            ),
            with(Code::Note, "احتفظ بالسجلات"),
        ),
        (
            "Gmail in Arabic",
            Plain(
                "\u{202b}1\u{202c}\n\nفي الثلاثاء، 3 نوفمبر 2026 في 10:00 ص تمت كتابة ما يلي بواسطة Gate <gate@example.com>:\n> 3\n",
            ),
            bare(Code::Once),
        ),
        (
            "Outlook for iOS",
            Plain(
                "1\n\nGet Outlook for iOS\n________________________________\nFrom: Gate\nSent: Tuesday\n3\n",
            ),
            bare(Code::Once),
        ),
        (
            "Samsung",
            Plain(
                "2\n\n\n\nSent from my Galaxy\n\n\n-------- Original message --------\nFrom: Gate\n1\n",
            ),
            bare(Code::Session),
        ),
        (
            "Proton",
            Plain(
                "6\n\nSent with Proton Mail secure email.\n\nOn Tuesday, November 3rd, 2026 at 10:00 AM, Gate wrote:\n\n> 3\n",
            ),
            bare(Code::Always),
        ),
        (
            "an address below a line of dashes",
            Plain("1\n\n-- \nBob Smith\nACME\n5 Main Street\n10115 Berlin\n"),
            bare(Code::Once),
        ),
        (
            "nbsp and old line ends",
            Plain("\u{a0}1\u{a0}\r\rBob\r"),
            bare(Code::Once),
        ),
        (
            "a line separator",
            Plain("1\u{2028}\u{2028}Bob"),
            bare(Code::Once),
        ),
        (
            "lines of prose below a code",
            Plain("1\n\nBut let us talk about this tomorrow at 6.\n"),
            bare(Code::Once),
        ),
        (
            "the same code twice",
            Plain("1\n\nYes, really:\n1\n"),
            bare(Code::Once),
        ),
        (
            "a no with a time",
            Plain("3 PM is when we deploy, not now\n"),
            with(Code::Deny, "PM is when we deploy, not now"),
        ),
    ]);
}

#[test]
fn p13_prose_and_furniture_of_real_clients_decide_nothing() {
    check(&[
        ("a time", Plain("6 PM would be better\n\nBob\n"), NOTHING),
        ("a time with 4", Plain("4 PM would be better\n"), NOTHING),
        ("a wait", Plain("2 minutes please\n"), NOTHING),
        (
            "a question first",
            Plain("1 question first: what does it delete?\n"),
            NOTHING,
        ),
        ("two codes", Plain("1\n3\n"), NOTHING),
        (
            "two codes, far apart",
            Plain("1\n\nSorry, I meant:\n\n3 too risky\n"),
            NOTHING,
        ),
        (
            "two codes around a quote",
            Plain("1\n\n> may claude use shell.run?\n\n3\n"),
            NOTHING,
        ),
        (
            "two codes in HTML",
            Html("<div>1</div><div>3</div>"),
            NOTHING,
        ),
        (
            "two codes in Outlook",
            Html(
                "<p class=MsoNormal>1</p><p class=MsoNormal>&nbsp;</p><p class=MsoNormal>3 no</p>",
            ),
            NOTHING,
        ),
        (
            "attachments, German",
            Plain("1 Anhang\n\nOn Tue, Gate wrote:\n> 1\n"),
            NOTHING,
        ),
        ("attachments, three", Plain("3 Anhänge\n"), NOTHING),
        (
            "attachments, Gmail",
            Plain("3 Attachments • Scanned by Gmail\n"),
            NOTHING,
        ),
        ("attachments, French", Plain("3 pièces jointes\n"), NOTHING),
        ("attachments, Russian", Plain("3 вложения\n"), NOTHING),
        (
            "attachments, Japanese",
            Plain("3 個の添付ファイル\n"),
            NOTHING,
        ),
        ("attachments, Arabic", Plain("3 مرفقات\n"), NOTHING),
        ("a date", Plain("3 Nov 2026\n\nOn it.\n"), NOTHING),
        (
            "a date with its time",
            Plain("3 novembre 2026 à 10:00\n"),
            NOTHING,
        ),
        (
            "a date, Russian",
            Plain("3 ноября 2026 г. 10:00\n"),
            NOTHING,
        ),
        (
            "an attribution that begins with its day",
            Plain("3 Nov 2026 10:00, Gate <gate@example.com> wrote:\n> 1\n"),
            NOTHING,
        ),
        (
            "wrapped over two lines",
            Plain(
                "3 Nov 2026 at 10:00, The Gate Of Us\n<gate@example.com> wrote:\n\nmay claude use shell.run?\n1\n",
            ),
            NOTHING,
        ),
        (
            "wrapped before the year, Spanish",
            Plain("3 de noviembre de\n2026 a las 10:00, Gate <gate@example.com>\nescribió:\n\n1\n"),
            NOTHING,
        ),
        (
            "wrapped before the year, Russian",
            Plain("3 ноября, вторник,\n2026 г. в 10:00 Gate <gate@example.com>\nнаписал:\n1\n"),
            NOTHING,
        ),
        (
            "wrapped, no verb that is known",
            Plain("3 azaroa 2026 10:00 Gate\n<gate@example.com> zyx:\n1\n"),
            NOTHING,
        ),
        (
            "wrapped after On",
            Plain("On Tue, Nov\n3 2026 at 10:00 AM Gate <gate@example.com> wrote:\n\n1\n"),
            NOTHING,
        ),
        (
            "Swedish",
            Plain("3 nov. 2026 kl. 10:00 skrev Gate <gate@example.com>:\n\n> 1\n"),
            NOTHING,
        ),
        (
            "no colon",
            Plain("3 Kas 2026 Sal 10:00 tarihinde Gate <gate@example.com> şunu yazdı\n\n1\n"),
            NOTHING,
        ),
        (
            "a signature alone",
            Plain("Sent from my iPhone\n\n1\n"),
            NOTHING,
        ),
        ("Outlook's history alone", Plain(OUTLOOK_HEAD), NOTHING),
        (
            "a banner alone",
            Plain("CAUTION: external e-mail.\n\nOn Tue, Gate wrote:\n> 1\n"),
            NOTHING,
        ),
        (
            "a banner and prose",
            Plain("CAUTION: external e-mail.\n\n6 PM would be better\n"),
            NOTHING,
        ),
        (
            "a unit, German",
            Plain("4 Minuten noch\n\nVon meinem iPhone gesendet\n"),
            NOTHING,
        ),
        ("a time, German", Plain("5 Uhr passt mir\n"), NOTHING),
        ("a time, French", Plain("4 heures du matin\n"), NOTHING),
        ("a unit, Spanish", Plain("5 minutos por favor\n"), NOTHING),
        ("a unit, Japanese", Plain("5 分待ってください\n"), NOTHING),
        ("a unit, full-width digit", Plain("５ 分\n"), NOTHING),
        ("a unit, Russian", Plain("5 минут, пожалуйста\n"), NOTHING),
        (
            "a unit, Arabic",
            Plain("\u{200f}5 دقائق من فضلك\n"),
            NOTHING,
        ),
        ("a question", Plain("4 is that really needed?\n"), NOTHING),
        ("a question, Arabic", Plain("5 هل هذا ضروري؟\n"), NOTHING),
        (
            "half a command",
            Plain("5 rm -rf /tmp/a\n/tmp/b\n"),
            NOTHING,
        ),
        (
            "two commands in HTML",
            Html("<div>5 npm ci</div><div>npm test</div>"),
            NOTHING,
        ),
        ("a greeting", Plain("Hi,\n1\n"), NOTHING),
        ("text in reverse", Plain("\u{202e}1\n"), NOTHING),
        ("glued by what nobody sees", Plain("6\u{200b}PM\n"), NOTHING),
        (
            "nbsp after the code",
            Plain("6\u{a0}PM would be better\n"),
            NOTHING,
        ),
        (
            "nbsp in HTML",
            Html("<div>2&nbsp;minutes please</div>"),
            NOTHING,
        ),
    ]);
}

/// Lines below each other are the texts of one reply, with ` | ` between replies.
fn check_all(replies: &[&'static str], expected: Expected) {
    for text in replies.iter().flat_map(|group| group.split(" | ")) {
        check(&[(text, Plain(text), expected)]);
    }
}

#[test]
fn p13_a_second_thought_anywhere_below_is_asked_about() {
    check_all(
        &[
            "1\nSorry\nWrong number\n3 too risky | 6\nBest\nBob\n3 no | 1\nOk\nfirst\n4 use staging",
            "1\n\nThanks,\nBob\n\nPS: sorry, I read it again:\n3 too risky, do not run it",
            "1\nEDIT 10:30:\n3 no, stop | 1\n\nSorry, at 10:30 I changed my mind:\n\n3",
            "1\n\nHold on, as Carol wrote:\n\n3 not on Friday | 1\nUpdate 2026-11-17:\n3",
            "1\n\nAt 10:30 carol@example.org wrote:\n\n3 not on Friday",
            "1\n--------\n3 no | 1\n________\nActually no\n3 | 1\n—\n3 no | 1\n====================\n3",
            "1\n> may builder use it?\n3 no | 1\n> rm -rf build\n3 no, not this\n> foo",
            "1\nSent from my iPhone\n\n3 no | 1\nFrom: now on I say\n3 no",
            "1\n-----\n3 | 1\n-------- sorry --------\n3 | 1\n-- \nBob\n\n> quoted\n\n3 no",
            "1\nOn second thought\n3 no, as Bob wrote:\n> quoted",
        ],
        NOTHING,
    );
}

#[test]
fn p13_a_short_correction_below_a_rule_or_a_signature_is_asked_about() {
    check_all(
        &[
            "1\nSent from my iPhone\n\nSorry, I meant 3 | 1\n--------\nI meant 3, not 1",
            "1\n\nI meant 3, not 1\n\nOn Tue, Nov 3, 2026 at 10:00 Gate <gate@example.org> wrote:\n> x",
            "1\n\n> quoted\n\nmake that a 3 | 1\n\n> quoted\n\n3番",
        ],
        NOTHING,
    );
    check_all(
        &[
            "1\nSent from my iPhone 6 | 1\n\n> quoted\n\nsee you at 3",
            "1\n\nSent from my Galaxy\nTel. +49 30 5 123456",
        ],
        bare(Code::Once),
    );
}

#[test]
fn p13_a_text_that_goes_on_behind_a_bar_is_asked_about() {
    check_all(
        &[
            "5: kubectl get secret app-credentials --namespace production -o yaml\n| grep -v password",
            "5: pg_dump --schema-only production_db\n> /tmp/schema.sql | 4: keep the logs\n> 3 days",
        ],
        NOTHING,
    );
    for page in [
        "<div>5: kubectl get secret a -o yaml</div><div>| grep -v password</div>",
        "<div>5: pg_dump db</div><div>&gt; /tmp/schema.sql</div>",
    ] {
        check(&[(page, Html(page), NOTHING)]);
    }
    check(&[
        (
            "an empty line before the quote",
            Plain("5: npm test\n\n> quoted"),
            with(Code::Change, "npm test"),
        ),
        (
            "a quote of HTML",
            Html("<div>5: npm test</div><blockquote>quoted</blockquote>"),
            with(Code::Change, "npm test"),
        ),
        (
            "an attribution",
            Plain("5: npm test\nGate wrote:\n> quoted"),
            with(Code::Change, "npm test"),
        ),
        (
            "a fence",
            Plain("5\n```\nnpm test\n```\n> quoted"),
            with(Code::Change, "npm test"),
        ),
    ]);
}

#[test]
fn p13_a_condition_above_a_code_is_no_banner() {
    check_all(
        &[
            "Does this send any mail outside the company? If not:\n\n1",
            "Only if no external message is sent to customers:\n1",
            "Nur wenn keine E-Mail extern verschickt wird:\n\n1",
            "Caution, this may mail people outside the company. If they agreed:\n\n6",
            "I do not want external mail to be sent. Ask Bob, he may answer\n1\n",
            "Please check with the sender outside of work hours before you do\n\n1",
            "Warning: I have not read the external message yet, do not treat as\n1",
            "Warning: this mails people outside the company, ask them first\n\n1",
            "[EXTERNAL]\nSecurity has to sign this off first\n1 | [EXTERNAL]\nPlease do not open port 22\n1",
            "External email\nUse caution, Anna has to agree\n1 | [EXT]\nContact the IT manager first\n\n1",
            "This message is from outside and Bob has to agree to it first\n1 | 【外部】\n请谨慎，先问安娜\n1",
            "External email must not be sent.\n\n1 | [EXTERNAL] ask Carol first\n\n1",
            "如果邮件不发到外部 就 可以 的 话\n\n1",
            "Только если письма не уходят на внешние адреса:\n\n1",
        ],
        NOTHING,
    );
    check_all(
        &[
            "This Message Is From an External Sender\nThis message came from outside your organization.\n\n1",
            "[EXT]\n\n1 | [External]\n1 | EXTERNAL EMAIL\n\n1 | *External*\n\n1",
            "CAUTION: This email originated from outside of the organization. Do not click links or open attachments unless you recognize the sender and know the content is safe.\n\n1",
            "Sie erhalten nicht oft eine E-Mail von bob@example.org. Erfahren Sie, warum dies wichtig ist\n\n1",
            "【外部邮件】\n\n1 | このメールは社外から送信されています。\n\n1",
        ],
        bare(Code::Once),
    );
}

#[test]
fn p13_furniture_of_an_empty_reply_decides_nothing() {
    check_all(
        &[
            "4 Kas 26 Çar, Gate <gate@example.org>\n\n> Provost asks | 4 lis 26 Gate\n\n> x",
            "5 gen 26, Gate <gate@example.org>\n\n> x | 3 Kas 26 Sal, Gate <gate@example.org>\n\n> x",
            "> Provost asks…\n\n4 Privet Drive, Little Whinging\n | 3 Nov 2026\n\n1",
            "6 marrask. 2026 Gate:\n\nProvost asks",
        ],
        NOTHING,
    );
}

#[test]
fn p13_a_clear_no_with_a_time_and_an_address_is_taken() {
    for (text, said) in [
        (
            "3 not before 10:00, ask ops@example.org",
            "not before 10:00, ask ops@example.org",
        ),
        (
            "3 as Bob wrote, not before 10:00",
            "as Bob wrote, not before 10:00",
        ),
        (
            "3 not before 18:00\nBob Smith\nbob@example.org",
            "not before 18:00",
        ),
        ("3 in march", "in march"),
        ("3 next may", "next may"),
        ("3 dec", "dec"),
        ("3 Anhänge, zu groß", "Anhänge, zu groß"),
        ("3 wait 20 minutes", "wait 20 minutes"),
        ("3 Bob wrote why:", "Bob wrote why:"),
    ] {
        check(&[(text, Plain(text), with(Code::Deny, said))]);
    }
    for (text, said) in [
        (
            "5 {\"start\":\"2026-11-20\",\"attendee\":\"bob@example.org\"}",
            "{\"start\":\"2026-11-20\",\"attendee\":\"bob@example.org\"}",
        ),
        (
            "5 git log --since=2026-01-01 --author=bob@example.org",
            "git log --since=2026-01-01 --author=bob@example.org",
        ),
    ] {
        check(&[(text, Plain(text), with(Code::Change, said))]);
    }
}

#[test]
fn p13_html_that_is_crossed_out_or_hidden_decides_nothing() {
    for page in [
        "<div><s>1</s></div>",
        "<div><strike>1</strike></div><div>no</div>",
        "<del>6</del><br><ins>no</ins>",
        "<p><span style=\"text-decoration:line-through\">1</span></p><p>not sure</p>",
        "<div style=\"font-size:0\">1</div><div>Please wait.</div>",
        "<div style=\"max-height:0;overflow:hidden\">1</div><div>Please wait.</div>",
        "<div style=\"opacity:0\">1</div><div>Please wait.</div>",
        "<div hidden>1</div><div>Please wait.</div>",
        "<style>.x{display:none}</style><div class=\"x\">1</div><div>Please wait.</div>",
        "<div>1</div><div>actually</div><div><s>2</s></div>",
        "<p>Only if no external mail is sent:</p><p>1</p>",
        "<div>1</div><div>Sorry</div><div>wrong number</div><div>3 too risky</div>",
        "<p>1&#133; what does it delete</p>",
        "<p>6\u{b}PM would be better</p>",
        "<head><style><!-- .st{text-decoration:line-through} --></style></head><p><span class=st>1</span></p><p>hold on</p>",
        "<table align=left><tr><td>6</td></tr></table><p>PM would be better</p>",
    ] {
        check(&[(page, Html(page), NOTHING)]);
    }
}
