//! Replies that decided wrongly, or were refused though they were clear, and what became of each.

use provost_core::menu::Code;

use super::super::*;
use crate::channels::email::html;

/// A plain text, a page, or both, and the code that they decide.
type Found = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    Option<Code>,
);

fn check(found: &[Found]) {
    for (name, plain, page, expected) in found {
        let page = page.map(html::text_of);
        let decided = read(*plain, page.as_deref());
        let code = decided.as_ref().ok().map(|reply| reply.code);
        assert_eq!(code, *expected, "{name}: {decided:?} {page:?}");
    }
}

#[test]
fn p13_a_second_thought_is_no_attribution() {
    for text in [
        "1\n\nSorry:\n3 may break prod, ask ops@example.org first",
        "1\nOeps:\n3 mag niet van ops@example.org",
        "1\nNon :\n3 des risques, voir avec ops@example.org",
        "1\nDesculpe:\n3 tem que falar com ops@example.org",
        "1\nnein:\n3 sie müssen erst ops@example.org fragen",
        "1\n3 Dec is the freeze, as Bob wrote. So no",
    ] {
        check(&[(text, Some(text), None, None)]);
    }
    for below in [
        "Missatge de Gate <gate@example.org> del dia dt.,\n3 de nov. 2026 a les 10:00:\n\n> x",
        "Gate <gate@example.org>,\n3 Kas 2026 Sal, 10:00 tarihinde şunu yazdı:\n\n> x",
        "On Tue, Nov\n3, 2026 at 10:00 Gate wrote:\n\n> x",
        "3 de noviembre de\n2026 a las 10:00, Gate <gate@example.org>\nescribió:\n\n> x",
    ] {
        let text = format!("1\n\n{below}");
        assert_eq!(first_line(&text), Ok(Reply::bare(Code::Once)), "{text}");
        assert!(first_line(below).is_err(), "{below}");
    }
}

#[test]
fn p13_a_signature_ends_where_its_element_does() {
    let quote = "<div class=\"gmail_quote\"><blockquote>[1] Allow once</blockquote></div>";
    for (page, expected) in [
        (
            "<div>1</div><div class=\"gmail_signature\">Bob</div><div>3 no, I misread it</div>",
            None,
        ),
        (
            "<div>1</div><div id=\"Signature\"><p>Bob</p></div><div>Sorry:</div><div>3 do not</div>",
            None,
        ),
        (
            "<div>6</div><div id=\"ms-outlook-mobile-signature\">Get Outlook</div><div>3 stop</div>",
            None,
        ),
        (
            "<div>1</div><div class=\"gmail_signature\">Bob<br>5 Main Street</div><div>see you</div>",
            Some(Code::Once),
        ),
        (
            "<div>1</div><span class=\"gmail_signature_prefix\">-- </span><br><div class=\"gmail_signature\">3 Main Street</div>",
            Some(Code::Once),
        ),
    ] {
        let page = html::text_of(&format!("{page}{quote}"));
        let code = read(None, Some(&page)).ok().map(|reply| reply.code);
        assert_eq!(code, expected, "{page}");
        // Where both parts exist, the HTML settles it.
        let code = read(Some("1\n-- \nBob\n3 no"), Some(&page)).ok();
        assert_eq!(code.map(|reply| reply.code), expected, "{page}");
    }
}

#[test]
fn p13_what_is_seen_on_one_line_is_one() {
    for page in [
        "<table><tr><td>1</td><td>Which database is that?</td></tr></table>",
        "<table><tr><td><p class=MsoNormal>1</p></td><td><p class=MsoNormal>Which one?</p></td></tr></table>",
        "<div style=\"display:inline\">6</div><div style=\"display:inline\">&nbsp;PM would be better</div>",
        "<div style=\"display:inline-block\">2</div> <p style=\"display:inline-block\">minutes please</p>",
        "<div style=\"float:left\">6</div><div>PM would be better</div>",
        "<div style=\"display:flex\"><div>6</div><div>&nbsp;PM works</div></div>",
        "<div dir=\"ltr\">1 <img data-emoji=\"❌\" alt=\"❌\" src=\"x.png\"></div>",
        "<div dir=\"ltr\">4 keep logs <img alt=\"❓\" src=\"x\"></div>",
        "<p style=\"color:#fff;background:#fff\">1</p><p>I do not know</p>",
        "<div style=\"border-left:2px solid blue\"><div>1</div></div><div>What does 1 do</div>",
        "<div class=\"EmailQuote\"><div>1</div></div><div>What does 1 do</div>",
    ] {
        check(&[(page, None, Some(page), None)]);
    }
    let page = "<style>@media(max-width:480px){.hide{display:none!important}} img[class=hide]{display:none}</style><div>1</div><div class=\"hide\">Bob</div>";
    check(&[(page, None, Some(page), Some(Code::Once))]);
}

#[test]
fn p13_a_quote_that_the_html_marks_contradicts_nothing_in_the_plain_text() {
    let attribution = "On Tue, Nov 3, 2026 at 10:00 AM Gate <gate@example.com> wrote:";
    let plain = format!(" 6\n\n    {attribution}  \n \n  I will do this:\n1. install\n2. test\n");
    let page = html::text_of(
        "<div>6</div><div class=\"ydp2yahoo_quoted\"><div>On Tue Gate wrote:</div><div>1. install</div></div>",
    );
    assert_eq!(
        read(Some(&plain), Some(&page)),
        Ok(Reply::bare(Code::Always))
    );
    // Above the attribution, and without such a mark, it does.
    let above = plain.replace("    On", "--------\n3 no\n    On");
    for (plain, page) in [(above.as_str(), page.as_str()), (&plain, "6")] {
        assert!(read(Some(plain), Some(page)).is_err(), "{plain}");
    }
}

#[test]
fn p13_ordinary_banners_and_counts_are_no_answers() {
    for banner in [
        "CAUTION: This email originated from outside of the organization. Do not click links or open attachments unless you recognize the sender and know the content is safe. If you are unsure, contact the IT Help Desk.",
        "CAUTION: This email originated from outside the organization. Exercise caution when opening attachments or clicking links.",
        "[EXTERNAL SENDER] Use caution when opening links.",
        "External Email - Please use caution",
        "ACHTUNG: Diese E-Mail kommt von außerhalb der Organisation. Bitte klicken Sie nicht auf Links und öffnen Sie keine Anhänge.",
        "*** Externe E-Mail *** Bitte seien Sie vorsichtig beim Öffnen von Anhängen.",
        "EXTERNE MAIL: Vorsicht beim Klicken auf Links und Öffnen von Anhängen!",
        "Achtung! Externer Absender. Öffnen Sie Links und Anhänge nur, wenn Sie den Absender kennen.",
        "[EXTERNE] Ce message provient d'un expéditeur externe. Soyez vigilant.",
        "CORREO EXTERNO: tenga cuidado con los enlaces y archivos adjuntos.",
        "LET OP: Deze e-mail komt van buiten de organisatie. Klik niet op links en open geen bijlagen als u de afzender niet vertrouwt.",
        "【外部邮件】此邮件来自外部，请谨慎点击链接。",
        "This email was sent from outside of ACME. Please do not click links or open attachments unless you recognise the source.",
        "This message is from outside of your organization. Be careful with links.",
        "EXTERNAL: This email originated from outside of ACME Inc. Please be mindful when clicking.",
        "Warning: This email is from an external source. Think before you click!",
    ] {
        let text = format!("{banner}\n\n1\n");
        assert_eq!(first_line(&text), Ok(Reply::bare(Code::Once)), "{banner}");
        assert!(first_line(banner).is_err(), "{banner}");
    }
    for condition in [
        "External email. Use caution when opening links, if Anna agrees.",
        "External email. Only when I say so.",
    ] {
        assert!(
            first_line(&format!("{condition}\n\n1")).is_err(),
            "{condition}"
        );
    }
    for count in [
        "3 Attachments, 24.3 MB",
        "3 images",
        "3 Bilder",
        "3 fotos",
        "3 файла",
        "3 pliki",
        "3 photos (2.1 MB)",
        "3 Dateien (4 MB)",
        "3 arquivos anexados",
        "3 fichiers",
    ] {
        assert!(first_line(&format!("{count}\n\n> x")).is_err(), "{count}");
    }
    assert!(first_line("3 files are too many").is_ok());
}
