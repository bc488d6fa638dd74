//! placeholder until merge
use provost_core::menu;
pub fn approval_id_in(subject: &str, body: &str) -> Option<String> {
    for text in [subject, body] {
        if let Some(at) = text.find("appr_") {
            let id: String = text[at..].chars().take(37).collect();
            return Some(id);
        }
    }
    None
}
pub fn reply_in_text(body: &str) -> Result<menu::Reply, menu::Unclear> {
    menu::parse(body.lines().find(|l| !l.trim().is_empty()).unwrap_or(""))
}
pub fn is_sender(from: &str, address: &str) -> bool {
    from.eq_ignore_ascii_case(address)
}
