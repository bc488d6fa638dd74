//! The words that make prose of a number, and those that close a letter, in the languages people answer in.
//! All in small letters, without dots and apostrophes ("p.m." is `pm`). Words that begin ordinary notes are
//! left out although they mean a time somewhere: "do", "so", "an", "set", "time".
//!
//! Each list is a text of words with spaces between them, or of phrases with commas.

/// Whether a word is in a list of words.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Units of time and measure, and parts of the day.
pub(super) const UNITS: &str = "\
    s sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days wk wks week weeks \
    month months year years yr yrs oclock clock am pm ampm noon midnight morning afternoon evening night \
    ish percent pct times x th st nd rd euro euros eur usd dollar dollars bucks cents gbp pounds chf kb \
    mb gb tb kib mib gib bytes kg km cm mm miles degrees uhr std stunde stunden minuten sek sekunde \
    sekunden tage tagen woche wochen monat monate monaten jahr jahre jahren prozent mal morgens mittags \
    nachmittags abends nachts vormittags früh franken nachmittag vormittag abend heure heures mn seconde \
    secondes jour jours semaine semaines mois ans année années fois matin soir après-midi pourcent hora \
    horas minuto minutos segundo segundos día días dia dias semana semanas mes meses mês año años ano \
    anos veces vezes tarde noche noite manhã madrugada ciento cento ora minuti secondi giorno giorni \
    settimana settimane mese mesi anno anni volte mattina mattino pomeriggio sera notte punto uur minuut \
    seconden dag dagen weken maand maanden jaar keer procent timme timmar timer minuter minutter \
    sekunder dagar dage dager vecka veckor uge uger uke uker månad månader måneder år gånger gange \
    ganger tuntia minuuttia sekuntia päivää viikkoa kuukautta vuotta godz godzina godziny godzin minuta \
    minuty minut sekund sekundy dzień dni tydzień tygodnie tygodni miesiąc miesiące miesięcy rok lata \
    razy rano wieczorem hod hodina hodiny hodin dny dnů dní týden týdny měsíce roky perc óra órakor hét \
    hónap zile săptămâni saat dakika dk saniye gün hafta yıl λεπτά λεπτό ώρα ώρες μέρες ημέρες εβδομάδες \
    phút giờ ngày tuần tháng menit hari minggu bulan tahun pagi ч час часа часов часам мин минут минута \
    минуты минуту минутки сек секунд секунды секунда день дня дней неделя недели недель месяц месяца \
    месяцев год года лет г раз раза процент процента процентов утра вечера ночи руб рублей година години \
    годин хвилина хвилини хвилин дні днів тижні тижнів місяці місяців років ранку دقيقة دقائق دقيقه ساعة \
    ساعات ساعه ثانية ثواني ثوان يوم أيام ايام أسبوع أسابيع شهر أشهر شهور سنة سنوات مساء مساءً صباحا \
    صباحًا ظهرا مرات ص م דקות דקה שעות שעה ימים יום שבועות חודשים שנים שניות בבוקר בערב मिनट घंटे बजे \
    दिन सेकंड हफ्ते महीने साल million millions thousand hundred dozen k mio tsd tausend millionen mille \
    mil тысяч тысячи тыс star stars دقیقه ساعت روز هفته ماه سال";

/// What people count. Behind an article such a word begins an ordinary note: "the tests must pass".
pub(super) const COUNTED: &str = "\
    people persons guys users files items things questions question points issues problems reasons \
    options steps lines tests retries attempts calls requests commits attachments attachment copies \
    pieces others leute personen dateien fragen frage punkte gründe stück zeilen anhang anhänge \
    personnes fichiers lignes pièces personas pessoas preguntas perguntas archivos arquivos líneas \
    adjuntos persone domande righe allegati vragen mensen bestanden bijlagen filer frågor pytania osoby \
    osób plików soru kişi вопрос вопроса вопросов человек человека файл файла файлов строк вложения \
    питання أسئلة اسئلة أشخاص ملفات مرفقات שאלות";

/// Names of months and what languages shorten them to.
pub(super) const MONTHS: &str = "\
    january february march april may june july august september october november december jan feb mar \
    apr jun jul aug sep sept oct nov dec januar jänner februar märz mär mai juni juli oktober okt \
    dezember dez januari februari maart mrt mei augustus mars maj augusti marts desember des tammikuuta \
    helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta \
    marraskuuta joulukuuta janvier janv février févr fév avril avr juin juillet juil août aout septembre \
    octobre novembre décembre déc enero ene febrero marzo abril abr mayo junio julio agosto ago \
    septiembre octubre noviembre diciembre dic janeiro fevereiro fev março maio junho julho setembro \
    outubro novembro dezembro gennaio genn febbraio febbr aprile maggio magg giugno luglio settembre \
    ottobre dicembre ianuarie februarie martie aprilie iunie iulie septembrie octombrie noiembrie \
    decembrie stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada \
    grudnia ledna února března dubna května června července srpna září října prosince január február \
    március április május június július augusztus szeptember október ocak şubat mart nisan mayıs haziran \
    temmuz ağustos eylül ekim kasım aralık января янв февраля фев марта мар апреля апр мая июня июн июля \
    июл августа авг сентября сен сент октября окт ноября ноя нояб декабря дек січня лютого березня \
    квітня травня червня липня серпня вересня жовтня листопада грудня ιανουαρίου φεβρουαρίου μαρτίου \
    απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου يناير فبراير \
    مارس أبريل ابريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر اكتوبر نوفمبر ديسمبر تشرين كانون شباط آذار \
    نيسان أيار حزيران تموز آب أيلول ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר \
    דצמבר בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר";

/// Days of the week, and days by their distance.
pub(super) const DAYS: &str = "\
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun \
    today tomorrow tonight yesterday weekend montag dienstag mittwoch donnerstag freitag samstag \
    sonnabend sonntag heute morgen gestern lundi mardi mercredi jeudi vendredi samedi dimanche demain \
    aujourdhui hier lunes martes miércoles jueves viernes sábado domingo hoy mañana ayer segunda-feira \
    terça-feira quarta-feira quinta-feira sexta-feira hoje amanhã lunedì martedì mercoledì giovedì \
    venerdì sabato domenica oggi domani maandag dinsdag woensdag donderdag vrijdag zaterdag zondag \
    vandaag måndag tisdag onsdag torsdag fredag lördag søndag söndag imorgon idag poniedziałek wtorek \
    środa czwartek piątek sobota niedziela dziś dzisiaj jutro понедельник вторник среда среду четверг \
    пятница пятницу суббота субботу воскресенье сегодня завтра вчера pazartesi salı çarşamba perşembe \
    cuma cumartesi pazar bugün yarın الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد غدا غدًا اليوم \
    היום מחר";

/// What may stand between a number and what is counted.
pub(super) const MORE: &str = "\
    more other full whole working business another extra additional few short long quick small open big \
    different new weitere kurze offene noch petites autres encore más mais altre altri nog jeszcze еще \
    ещё";

/// Small words that may stand between a number and its unit.
pub(super) const SMALL: &str = "\
    or to and a half in the of at on after before until till by from around about next this out past \
    quarter oder bis und am um im gegen halb nach vor ab ou à et de du des la le les l demi vers o y e \
    da del della di las los el por per pour en tot kl klockan klo eller og och lub i или и до через в на \
    к після أو إلى في من ve veya";

/// Words that begin a question also without a mark. "When", "where" and "how" in other languages begin notes.
pub(super) const QUESTIONS: &str = "\
    what whats why who whose how warum wieso weshalb wozu wer wann pourquoi combien qué quién cuándo \
    cuánto cuántos quanto quanti waarom hoeveel varför hvorfor miksi dlaczego proč miért neden niye \
    почему зачем сколько кто чому навіщо لماذا ليش متى هل למה מדוע האם क्यों γιατί est-ce quest-ce";

/// Verbs that begin a question where one of [`ASKED_ABOUT`] follows: "do you need it", "ist das nötig".
pub(super) const ASKING: &str = "\
    do does did can could would will should shall may have has are were ist sind kannst können könnten \
    könntest soll sollen muss wird hast haben darf";

pub(super) const ASKED_ABOUT: &str = "you i we they he she du sie wir ihr ich man das es";

/// The same for verbs before which a note has no subject: "is this safe".
pub(super) const ASKING_IF: &str = "is was are";

pub(super) const ASKED_IF: &str = "this that it there the";

pub(super) const EAST_ASIA_QUESTIONS: &str = "\
    なぜ 何故 どうして 何の 何を いつ 为什么 為什麼 什么 什麼 怎么 怎麼 왜 무엇 언제";

/// Endings of questions.
pub(super) const EAST_ASIA_ASKING: &str = "\
    吗 嗎 呢 か かな 까 나요";

/// Counters that are nothing else, whatever follows them.
pub(super) const EAST_ASIA_ALWAYS: &str = "\
    分钟 分鐘 分間 小时 小時 時間 个 個 星期 パーセント ヶ月 か月 カ月 ヵ月 시간 개월";

/// Counters that are also the beginning of other words.
pub(super) const EAST_ASIA: &str = "\
    分 时 時 点 點 号 號 日 天 周 週 月 年 秒 回 次 件 人 名 円 元 块 塊 岁 歳 度 倍 つ 本 枚 台 分钟 분 시 초 일 월 년 개 명 번 주 원";

/// What may follow such a counter without making another word of it.
pub(super) const EAST_ASIA_AFTER: &str =
    "后後前内內待半間间钟鐘以左頃顷過过目程中末まにごぐほくでは간에후전만정까뒤이동월쯤";

/// How letters are closed.
pub(super) const CLOSINGS: &str = "\
    thanks, thank you, thx, many thanks, cheers, best, best regards, kind regards, warm regards, \
    regards, sincerely, yours, br, kr, rgds, take care, mfg, mit freundlichen grüßen, mit freundlichen \
    grüssen, freundliche grüße, freundliche grüsse, viele grüße, viele grüsse, liebe grüße, liebe \
    grüsse, beste grüße, schöne grüße, gruß, gruss, grüße, grüsse, lg, vg, danke, vielen dank, \
    cordialement, bien cordialement, bien à vous, merci, salutations, cdlt, bonne journée, saludos, un \
    saludo, atentamente, gracias, muchas gracias, atenciosamente, obrigado, obrigada, abraços, att, \
    cordiali saluti, saluti, distinti saluti, grazie, met vriendelijke groet, groeten, groetjes, mvg, \
    bedankt, med vänlig hälsning, med vänliga hälsningar, hälsningar, mvh, tack, venlig hilsen, med \
    venlig hilsen, hilsen, tak, takk, terveisin, kiitos, pozdrawiam, z poważaniem, dziękuję, s \
    pozdravem, děkuji, üdvözlettel, köszönöm, saygılarımla, teşekkürler, с уважением, спасибо, с \
    наилучшими, з повагою, дякую, よろしく, 宜しく, 以上, ありがとう, 敬具, 此致, 谢谢, 謝謝, 祝好, 감사, مع تحياتي, تحياتي, شكرا, \
    شكرًا, مع أطيب, בברכה, תודה, cumprimentos, με εκτίμηση";

/// How a line with a phone number or an address begins.
pub(super) const CONTACTS: &str = "\
    tel phone mobile mobil cell fax www. http:// https:// m: t: p: e: email: e-mail: mail: тел 電話 电话 \
    هاتف";
