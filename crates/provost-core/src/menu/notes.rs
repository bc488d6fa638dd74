//! How notes begin that stand behind a 4 without a separator: with a verb that tells an agent what to do, or with a
//! word that limits the yes. What is not known to begin a note is asked again, with the line ready to be sent: no
//! list of what people write about a number would ever end.
//!
//! Words that also begin a wish for time ("wait", "ask", "check", "let me") are left out on purpose.

use super::{Code, prose, words::has};

/// Verbs that are hardly anything else behind a number.
const VERBS: &str = "\
    add append avoid create disable do enable ensure exclude ignore include keep omit prefer preserve reduce remove rename \
    replace rerun restore retain reuse revert uncomment undo use validate write \
    nimm nutze nutz benutze benutzen verwende verwenden lass lasse behalte behalten mach mache füge lösche entferne \
    ergänze schreib schreibe achte beachte beachten sichere sichern setze ändere \
    garde gardez ajoute ajoutez utilise utilisez évite évitez laisse laissez conserve conservez supprime supprimez \
    fais faites mets mettez \
    usa utiliza guarda conserva conserve añade agrega mantén mantenga deja evita borra haz \
    guarde mantenha adicione adiciona utilize deixe deixa evite apague faça inclua \
    tieni aggiungi mantieni lascia conserva elimina metti salva \
    gebruik bewaar voeg behoud verwijder vermijd \
    użyj dodaj zachowaj zostaw usuń unikaj zrób \
    добавь добавьте сохрани сохраните используй используйте оставь оставьте сделай сделайте удали удалите убери \
    додай додайте збережи збережіть використай використовуй залиш залиште \
    použij přidej nech zachovej ponech smaž adaugă păstrează folosește lasă \
    använd behåll brug behold tilføj bruk legg käytä säilytä lisää \
    ekle kullan sakla koru tambahkan gunakan simpan \
    احتفظ أضف استخدم اترك";

/// Verbs that are nouns or adjectives as well, and are verbs before an article, a pronoun or a name with signs in it:
/// "fix the typo", "push to origin/dev", and not "4 fix commits".
const NOUNS_TOO: &str = "\
    apply archive attach back build bump change clean clear comment commit copy delete deploy document drop export fix \
    follow format handle increase install leave limit lint log lower make mark mention merge migrate mock move mute note \
    pass pin print pull push put raise read rebase record release repeat reset respect restart restrict retry return roll \
    rotate run save set skip sort split squash start stick strip switch tag test throttle touch try turn update upgrade \
    watch";
const BEFORE_NOUNS: &str = "\
    the a an this that these those it its them all any every each no only our your my their to from with without in on \
    into out up as what whatever again tests sure";

/// A no to one thing, before a verb: "don't touch the logs".
const NEGATIONS: &str = "dont never ne pas nicht no não non niet nie не inte ikke";

/// Words before the one that counts: "please also keep the logs".
const BEFORE: &str = "please pls plz ok okay yes fine sure good and also just then first so now next afterwards und \
    dann et puis y luego e poi en dan i potem и потом";

/// What asks for something, in languages whose verb may stand last.
const PLEASE: &str = "please pls bitte svp stp proszę lütfen пожалуйста prosím alsjeblieft alstublieft aub snälla \
    kérlek παρακαλώ tolong कृपया";

/// What limits a yes, before at least one more word.
const LIMITS: &str = "\
    only but with without except unless using via nur aber mit ohne außer mais seulement uniquement avec sans sauf solo \
    sólo solamente pero con sin excepto só apenas somente mas com sem exceto soltanto solamente ma senza tranne maar \
    alleen met zonder behalve ale tylko bez но только без кроме але тільки лише ama sadece yalnızca jen pouze dar doar \
    fără bara endast utan kun uden uten mutta vain ilman αλλά μόνο χωρίς tapi hanya tanpa nhưng chỉ لكن فقط بدون";

/// Beginnings of several words.
const PHRASES: &str = "\
    let me know, let us know, be careful, be sure, be gentle, be aware, be mindful, be explicit, as discussed, as agreed, as planned, remember to, go ahead but, \
    wie besprochen, wie vereinbart, wie abgesprochen, denk an, denke an, comme convenu, comme prévu, merci de, \
    sil vous plaît, sil te plaît, por favor, como acordado, como hablamos, per favore, come concordato, \
    zoals besproken, lägg till, будь ласка, te rog, من فضلك";

/// Beginnings in scripts without spaces, and how a wish for time goes on behind them.
const EAST_ASIA: &str = "请 請 保留 添加 记得 記得 但";
const EAST_ASIA_WAITING: &str = "等 稍 先 问 問 不 别 別 暂 暫 停 确认 確認 再";

/// Verbs of a sentence about so many things, as its third word: "4 run attempts failed".
const OF_THINGS: &str = "\
    are were have had would will need needs fail failed remain exist depend break broke pending missing open affected \
    left";

/// Words of somebody who wants time, or speaks of themselves, and does not tell an agent what to do: "but I am in a
/// meeting", "keep it for later".
const NOT_NOW: &str = "\
    im ive id me myself wait waiting later tomorrow hold yet nothing nobody meeting meetings busy lunch noon talk ask \
    asking maybe perhaps idea off alone \
    ich mir mich bin warten warte später morgen vielleicht reden fragen rücksprache besprechung \
    je jai suis moi attendre attends demain plus-tard peut-être réunion déjeuner \
    yo mí estoy espera esperar mañana reunión reunido almuerzo quizás \
    eu estou esperar espere amanhã reunião almoço talvez \
    io sono aspetta aspettare domani riunione pranzo forse \
    ik mij ben wacht wachten morgen nu misschien vergadering \
    jestem czekaj jutro teraz może spotkanie я мне подожди завтра сейчас может позже \
    ben bekle yarın şimdi jag vänta imorgon nu";

/// The same in two words. An "i" alone is an article elsewhere.
const NOT_NOW_PAIRS: &str = "\
    i am, i was, i have, i will, i would, i need, i think, i want, i must, i can, i cannot, i cant, i dont, i do, not now, \
    not today, non so";

/// Whom something is done with is no limit: "4 with Anna".
const WITH: &str = "with without avec sans con sin com sem senza met zonder";

/// Whether a text begins as a note does.
pub(super) fn begins(text: &str) -> bool {
    let folded = prose::fold(text);
    if begins_in_east_asia(&folded) {
        return true;
    }
    let words: Vec<String> = prose::words_of(&folded).collect();
    let said = words.join(" ");
    let is_phrase = |phrase: &str| {
        let rest = said.strip_prefix(phrase);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if PHRASES.split(", ").any(is_phrase) {
        return words.len() > 1;
    }
    let is_asked = asks_for(&folded, &words);
    let skipped = words
        .iter()
        .take_while(|word| has(BEFORE, word) || has(PLEASE, word));
    let rest = words.get(skipped.count()..).unwrap_or_default();
    let other = prose::is_about_number(rest) || puts_off(rest) || is_with_somebody(text, &words);
    !other && (tells(rest) || is_asked)
}

/// Wants time, or names another code: "but maybe 5".
fn puts_off(words: &[String]) -> bool {
    /// In a longer text a number is an amount.
    const SHORT: usize = 4;
    let names_code = words.len() <= SHORT && words.iter().any(|word| Code::parse(word).is_some());
    let said = words.join(" ");
    let says = |pair: &str| format!(" {said} ").contains(&format!(" {pair} "));
    names_code || words.iter().any(|word| has(NOT_NOW, word)) || NOT_NOW_PAIRS.split(", ").any(says)
}

fn is_with_somebody(text: &str, words: &[String]) -> bool {
    let second = text.split_whitespace().nth(1).unwrap_or_default();
    let named = second.starts_with(char::is_uppercase) && second.contains(char::is_lowercase);
    named && words.first().is_some_and(|first| has(WITH, first))
}

fn begins_in_east_asia(folded: &str) -> bool {
    let mut rests = EAST_ASIA
        .split_whitespace()
        .filter_map(|start| folded.strip_prefix(start));
    rests.any(|rest| {
        let waits = |start: &str| rest.starts_with(start);
        !rest.is_empty() && !EAST_ASIA_WAITING.split_whitespace().any(waits)
    })
}

/// "4 bitte vorher ein Backup machen", and not "4 bitte, das passt mir besser".
fn asks_for(folded: &str, words: &[String]) -> bool {
    let asks = words.first().is_some_and(|first| has(PLEASE, first));
    let first = folded.split_whitespace().next().unwrap_or_default();
    asks && words.len() > 2 && first.ends_with(char::is_alphabetic)
}

/// Tells what to do, or limits the yes.
fn tells(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if word(0) == "do" && word(1) == "not" {
        return does(words.get(2..).unwrap_or_default());
    }
    if has(NEGATIONS, word(0)) {
        return does(words.get(1..).unwrap_or_default());
    }
    let limits = has(LIMITS, word(0)) && {
        let rest = words.get(1..).unwrap_or_default();
        !rest.is_empty() && !prose::is_time_or_amount(rest)
    };
    limits || does(words)
}

fn does(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let of_things = has(OF_THINGS, word(2)) || (word(0) == "use" && word(1).starts_with("case"));
    let is_named = |word: &str| word.chars().any(|c| !c.is_alphabetic());
    let is_verb = has(VERBS, word(0))
        || (has(NOUNS_TOO, word(0)) && (has(BEFORE_NOUNS, word(1)) || is_named(word(1))));
    is_verb && !of_things
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p13_notes_begin_with_what_is_to_be_done() {
        for text in [
            "add logs",
            "keep the logs",
            "do not delete the logs",
            "don't touch the logs",
            "do this first",
            "please also keep the logs",
            "ok, but keep the logs",
            "only on staging",
            "but not on prod",
            "without the cache",
            "ohne Tests",
            "tieni i log",
            "fix the typo",
            "push to origin/dev",
            "run tests",
            "let me know when it is done",
            "bitte vorher ein Backup machen",
            "bitte nicht am Freitag",
            "nur auf Staging",
            "s'il te plaît garde les journaux",
            "por favor guarda los registros",
            "garde les journaux",
            "сохрани логи",
            "请保留日志",
            "احتفظ بالسجلات",
        ] {
            assert!(begins(text), "{text}");
        }
    }

    #[test]
    fn p13_remarks_about_a_number_begin_otherwise() {
        for text in [
            "ore",
            "e meia",
            "might work, I am in meetings until then",
            "prod boxes are affected",
            "Freigaben fehlen noch",
            "fix commits are missing",
            "run attempts failed",
            "use cases",
            "don't know",
            "do not like it",
            "first thing tomorrow",
            "also works",
            "just after lunch",
            "but 5 is better",
            "please",
            "please in the afternoon",
            "bitte, das passt mir besser",
            "nur noch",
            "only",
            "wait",
            "let me check first",
            "点再说",
            "请稍等",
            "с половиной",
            "but maybe 5",
            "but I am in a meeting",
            "aber ich bin bis dann im Meeting",
            "mais je suis en réunion",
            "with Anna in the room",
            "make sense",
            "keep waiting",
            "keep it for later",
            "be there",
            "do nothing yet",
            "merge requests still waiting",
            "clear errors in the log",
            "update calls today",
        ] {
            assert!(!begins(text), "{text}");
        }
    }
}
