//! E-mail: questions go out by SMTP, answers come back over IMAP or by the inbound webhook.

mod address;
mod flowed;
mod html;
mod incoming;
mod quotes;
mod reply;
mod settings;
mod token;
mod visible;

pub use address::{Address, BadAddress};
pub use incoming::{Incoming, read_reply};
pub use reply::{Misread, approval_id_in, first_line, reply_in_text};
pub use settings::{BadSetting, Imap, LinkBase, Sender, Settings, Smtp};
pub use token::Tokens;
