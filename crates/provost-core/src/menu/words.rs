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
    fifteen twenty thirty forty fifty s sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days wk wks week weeks \
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
    mil тысяч тысячи тыс star stars دقیقه ساعت روز هفته ماه سال cet cest utc gmt est edt pst pdt cst cdt \
    mst mdt bst ist msk jst kst aest mez mesz eod cob eow eom sharp pünktlich ème ième er ste günü घंटा \
    घंटों दिनों नवंबर hundreds thousands dozens kwadransów quarts tunnin timmars evenings mornings \
    nights";

/// What people count. Behind an article such a word begins an ordinary note: "the tests must pass".
pub(super) const COUNTED: &str = "\
    men women children kids mann people persons guys users files items things questions question points issues problems reasons \
    options steps lines tests retries attempts calls requests commits attachments attachment copies \
    pieces others leute personen dateien fragen frage punkte gründe stück zeilen anhang anhänge \
    personnes fichiers lignes pièces personas pessoas preguntas perguntas archivos arquivos líneas \
    adjuntos persone domande righe allegati vragen mensen bestanden bijlagen filer frågor pytania osoby \
    osób plików soru kişi вопрос вопроса вопросов человек человека файл файла файлов строк вложения \
    питання أسئلة اسئلة أشخاص ملفات مرفقات שאלות servers tables errors bugs colleagues kollegen augen \
    eyes tabelas pods hosts pages rows columns branches reviewers approvals tickets";

/// Names of months and what languages shorten them to.
pub(super) const MONTHS: &str = "\
    نوامبر دسامبر اکتبر ژانویه فوریه آوریل μαρ νοε δεκ οκτ january february march april may june july august september october november december jan feb mar \
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
    דצמבר בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר kas lis \
    ott gen mag giu lug gru paź wrz sie lip cze kwi lut sty haz ağu eyl eki ara oca şub nis tem stu \
    pro led úno bře dub kvě čvn srp říj velj ožu tra svi kol ruj ian iul iun noi marrask marraskuu joulu \
    joulukuu tammi helmi maalis huhti touko kesä heinä elo syys loka नवंबर नव दिसंबर जनवरी फरवरी मार्च \
    अप्रैल जून जुलाई अगस्त सितंबर अक्टूबर พย thg";

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
    היום מחר lunch lunchtime dinner breakfast noon midnight soir midi stasera stamattina vanavond overmorgen zítra \
    dnes holnap mâine astăzi αύριο σήμερα feierabend eod";

/// What may stand between a number and what is counted.
pub(super) const MORE: &str = "\
    more other full whole working business another extra additional few short long quick small open big \
    different new weitere kurze offene noch petites autres encore más mais altre altri nog jeszcze еще \
    ещё later early earlier late entire solid consecutive calendar complete good volle ganze gute lange \
    longues longs largos полных рабочих календарных iş uzun lunghi pełne";

/// Small words that may stand between a number and its unit.
pub(super) const SMALL: &str = "\
    or to and a half in the of at on after before until till by from around about next this out past \
    quarter oder bis und am um im gegen halb nach vor ab ou à et de du des la le les l demi vers o y e \
    da del della di las los el por per pour en tot kl klockan klo eller og och lub i или и до через в на \
    к після أو إلى في من ve veya til thru through tegen circa ca etwa rund ungefähr environ unos около";

/// Words that begin a question also without a mark. "When", "where" and "how" in other languages begin notes.
pub(super) const QUESTIONS: &str = "\
    what whats why who whose how warum wieso weshalb wozu wer wann pourquoi combien qué quién cuándo \
    cuánto cuántos quanto quanti waarom hoeveel varför hvorfor miksi dlaczego proč miért neden niye \
    почему зачем сколько кто чому навіщо لماذا ليش متى هل למה מדוע האם क्यों γιατί est-ce quest-ce which \
    whom whatever wofür welche welcher welches welchen wohin woher worum wieviel quel quelle quels \
    quelles qui quoi où quiénes cuántas cuál cuáles dónde cómo quem qual quais onde quê perché cosa chi \
    quale quali wat welke vad vem vilken vilka hur hva hvad hvem hvilken hvordan mikä mitä kuka onko czy \
    kto jaki jaka jakie który która co kdo jaký kolik melyik kim hangi nedir что какой какая какие какую \
    чей разве откуда що хто який чи τι ποιος ما ماذا كيف أين اين كم מה מי איך क्या कौन कैसे कब कहाँ किस \
    kenapa mengapa apa apakah siapa bagaimana";

/// Words that ask when they stand alone or before a verb. Before other words they begin notes.
pub(super) const ALONE_QUESTIONS: &str = "\
    when where how wann wo wie quand comment cuando donde como quando dove come wanneer waar hoe när var \
    når hvor milloin missä kiedy gdzie jak kdy kde kdaj mikor hol ne kiedy когда где как коли де як πότε \
    πού متى متي כיצד मतलब";

/// Questions of several words.
pub(super) const ASKING_PHRASES: &str = "\
    por qué, por que, po co, any idea, since when, de ce, tại sao, cest quoi, à quoi, for what, what for, \
    bu nedir, bu ne, ce este, was ist, wer hat, che cosa";

/// What ends a question in Turkish.
pub(super) const ASKING_PARTICLES: &str = "mi mı mu mü nedir midir quoi";

/// How words for spans of time begin, with whatever ending a language gives them: "minuutjes", "минуточек".
pub(super) const TIME_STEMS: &str = "\
    minut minuut minüt stunde stündchen heures godzin секунд минут недель недели месяц хвилин тижн dakika \
    saniye hafta giorni settiman semaine wochenend weekend fortnight werkdag arbeitstag viertelst \
    kwadrans arbetsdag kalendertag werktag uurtje";

/// How words for spans of time end: "Werktage", "arbetsdagar".
pub(super) const TIME_ENDS: &str = "\
    tage tagen stunden wochen days nights weeks months hours minutes years evenings mornings afternoons \
    weekends fortnights sprints dagen dagar weken uren timmar minuten jours semaines heures дней недель \
    часов минут";

/// Numbers as words: "4 or five", "5 vor zwölf".
pub(super) const NUMBER_WORDS: &str = "\
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty zwei drei vier fünf \
    sechs sieben acht neun zehn elf zwölf deux trois quatre cinq six sept huit neuf dix dos tres cuatro \
    cinco seis siete ocho nueve diez due tre quattro cinque sei sette otto nove dieci dois três quatro \
    sete oito dez twee drie vier vijf zes zeven acht negen tien två tre fyra fem sex sju åtta nio tio dwa \
    trzy cztery pięć sześć siedem osiem dziewięć dziesięć два три четыре пять шесть семь восемь девять \
    десять iki üç dört beş altı yedi sekiz dokuz";

/// Said of a proposal, and not to an agent: "5 would be better", "4 colleagues disagree".
pub(super) const COMPARING: &str = "\
    better besser mieux mejor melhor meglio beter bättre bedre lepiej lepszy лучше краще uygun parempi \
    jobb disagree disagrees object objections against dagegen contre contro tegen przeciw против";

/// Verbs of a sentence about the number, as its first three words may have them.
pub(super) const STATING: &str = "\
    are is would were was works will have has had wäre wären würde würden sind passt passen passte müssen \
    haben sont seraient serait va vont son serían sería são seria sono sarebbe zijn zou är skulle";

/// Words that say no. Behind a yes they take it back, or limit it to something that may not be what was asked.
pub(super) const NEGATIONS: &str = "\
    no not nope never none nothing nobody neither nor cannot dont doesnt didnt cant wont isnt arent shouldnt wouldnt \
    nevermind nein nicht nichts nie niemals niemand ne pas non jamais rien aucun aucune nunca nada ningún tampoco jamás \
    não nem nenhum nenhuma niente mai nessun nessuno nemmeno niet niets geen nooit nee inte ingen inget inga aldrig nej \
    ikke ingenting aldri nei ei älä älkää nigdy nic żaden není nikdy nechci nu niciodată nem soha hayır değil asla yok \
    не нет нельзя никогда ничего ні немає ніколи нічого όχι δεν μην לא אל אין لا لن ليس لم नहीं मत không đừng chưa tidak \
    jangan bukan";

/// The same in scripts without spaces, and in short forms: "shan't".
pub(super) const NEGATION_SIGNS: &str = "\
    n't n’t 不 没 拒 却下 거부 沒 别 別 勿 無理 ない ません いいえ だめ ダメ やめ 않 안돼 안됩 아니 하지마 지마 마세요";

/// Notes that take back the yes they stand behind without such a word.
pub(super) const REFUSALS: &str = "\
    stop, wait, cancel, abort, hold on, later, maybe, perhaps, vielleicht, peut-être, quizás, forse, talvez, misschien, \
    hang on, one moment, a moment, moment, halt, stopp, not yet, one sec, disapproved, rejected, blocked, \
    kanske, może, может, please, hmm, too many, enough, bitte, por favor, sil vous plaît, sil te plaît, svp, stp, \
    per favore, proszę, lütfen, пожалуйста, graag, alsjeblieft, aub, undo, revert, avoid";

pub(super) const REFUSING: &str = "\
    too risky, too dangerous, zu gefährlich, bad idea, ask , call me, let me check, let me look, let me think, let me see, i need, need more, talk to me, \
    check with, zu riskant, trop risqué, muy arriesgado, stop it, stop this, stop that, i disagree, i object, skip it, skip this, skip that, leave it, \
    forget, drop it, drop this, avoid it, avoid this, avoid doing, please stop, please ask, \
    please check, please let me, lass es, lass das, lass mal, vergiss es, laisse tomber, laissez tomber, \
    oublie, lascia perdere, lascia stare, laat maar, deja eso, déjalo, olvida, olvídalo, \
    bitte stopp, bitte frag, bitte erst fragen, bitte lass, por favor esper, per favore aspett, sil te plaît attend, \
    sil vous plaît attend, merci dattendre, only if you are sure, but wait, but first ask, aber warte";

/// Words of sentences that no command has as a bare word.
pub(super) const EVERYDAY: &str = "\
    not no please this that these those it its they we you i he she my our your should could must may might need needs be \
    been do does wait never only first then too much many very also already still yet another way sure ahead like \
    because since if when unless but with without some any there here nicht kein keine bitte nein ja doch noch schon \
    erst dann warten warte aber weil wenn ist bin wird kann muss soll pas non mais encore attends déjà sans avec pero con \
    sin espera aún ya não mas ainda com sem espere ma ancora aspetta niet geen maar wacht nog met nie ale jeszcze czekaj \
    не нет но ещё подожди fine ok okay yes thanks later now today tomorrow affected instead";

/// Words that take back what was said before, wherever they stand.
pub(super) const CORRECTING: &str = "\
    sorry oops ooops whoops meant typo mistake wrong correction scratch meinte falsch vertippt korrektur pardon désolé \
    désolée perdón scusa scusate desculpa desculpe sorri bedoelde menade przepraszam извините прости ошибся ошиблась عفوا";

/// Words that refuse, wherever they stand.
pub(super) const REFUSING_WORDS: &str = "\
    deny denied reject rejected refuse refused decline declined forbid forbidden cancel cancelled abort veto nah ablehnen \
    abgelehnt verweigern verweigert refuser refusé rechazar rechazado rifiuta rifiutato weigeren geweigerd отклонить \
    отклоняю отклонено отказ запретить رفض ارفض";

/// Words that put off, and the same in scripts without spaces.
pub(super) const DELAYING: &str = "\
    wait hold postpone delay defer later warte warten abwarten verschiebe verschieben später attends attendez attendre \
    espera esperar espere aplaza aplazar aspetta aspettare rimanda wacht wachten uitstellen vänta senare czekaj poczekaj \
    później подожди подождите позже отложи отложить bekle sonra انتظر لاحقا";

pub(super) const DELAYING_SIGNS: &str =
    "等一下 等等 稍等 稍后 稍後 再说 再說 推迟 延期 明天 待って あとで 後で 明日 나중 기다려 내일";

/// Words by which a number is chosen: "make that a 3", "option 3".
pub(super) const CHOOSING: &str = "\
    mean that actually rather instead meine sondern plutôt quería digo volevo intendevo queria bedoel miałem имел хотел \
    option code number nr answer choice antwort wahl réponse respuesta";

/// The codes in words, from one to six.
pub(super) const NUMBERS: [&str; 6] = [
    "one eins uno один bir",
    "two zwei deux dos dois due twee dwa dwie два iki två",
    "three drei trois tres três tre drie trzy три üç",
    "four vier quatre cuatro quatro quattro cztery четыре dört fyra",
    "five fünf cinq cinco cinque vijf pięć пять beş fem",
    "six sechs seis zes sześć шесть altı sex",
];
/// The same in one sign.
pub(super) const DIGIT_SIGNS: &str = "一二三四五六";

/// What people say before what they ask for.
pub(super) const POLITE: &str = "please pls bitte svp proszę lütfen пожалуйста graag";

/// Words before a time of the day that ends a line: "see you at 3".
pub(super) const BEFORE_TIMES: &str = "at um kl klockan klo lúc pukul";

/// Words before numbers that are no code: "Suite 3", "iPhone 6".
pub(super) const NUMBERED: &str = "suite floor room apt etage raum iphone ipad galaxy pixel";

/// Units that make an amount of the number before them. No word of a sentence is among them.
pub(super) const AMOUNTS: &str = "\
    am pm h hr hrs hour min mins minute sec secs second seconds d day week month year times uhr heure hora horas ore uur \
    час часа kb mb gb tb";

pub(super) const AMOUNT_SIGNS: &str =
    "% € $ £ ¥ ° 分 秒 时 時 点 點 天 日 月 年 周 週 분 초 시 일 월 년";

/// Words of addresses, and how such words end.
pub(super) const STREETS: &str = "\
    street st str road rd avenue ave lane drive boulevard ring rue via viale calle rua ulica ul ул улица";

pub(super) const STREET_ENDS: &str =
    "straße strasse straat gatan vägen platz allee gasse laan plein weg";

/// First words that end as plurals do, and are none.
pub(super) const NO_PLURALS: &str = "\
    thanks looks seems sounds makes needs always perhaps sometimes unless besides alles nichts falls sans \
    dans mais fais mets gardes attends prends laisses antes depois pues despues gracias eens kubernetes \
    redis express across towards regardless nous vous temps toutes tous notes";

/// Verbs that begin a question where one of [`ASKED_ABOUT`] follows: "do you need it", "ist das nötig".
pub(super) const ASKING: &str = "\
    do does did can could would will should shall may have has are were ist sind kannst können könnten \
    könntest soll sollen muss wird hast haben darf am dont havent must müssen";

pub(super) const ASKED_ABOUT: &str = "you i we they he she du sie wir ihr ich man das es";

/// The same for verbs before which a note has no subject: "is this safe".
pub(super) const ASKING_IF: &str = "\
    is was are isnt wasnt arent werent does doesnt did didnt can cant could couldnt would wouldnt will \
    wont should shouldnt has hasnt";

pub(super) const ASKED_IF: &str = "\
    this that it there the you i we they he she any anyone anybody anything my our your these those";

pub(super) const EAST_ASIA_QUESTIONS: &str = "\
    なぜ 何故 どうして 何の 何を いつ 为什么 為什麼 什么 什麼 怎么 怎麼 왜 무엇 언제 谁 誰 哪 多少 几 怎 为何 為何 どの どれ どう だれ 뭐 누가 누구 어떤 어디 몇 얼마";

/// Endings of questions.
pub(super) const EAST_ASIA_ASKING: &str = "\
    吗 嗎 呢 か かな 까 나요";

/// Counters that are nothing else, whatever follows them.
pub(super) const EAST_ASIA_ALWAYS: &str = "\
    分钟 分鐘 分間 小时 小時 時間 个 個 星期 パーセント ヶ月 か月 カ月 ヵ月 시간 개월 営業日 工作日 영업일";

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
    شكرًا, مع أطيب, בברכה, תודה, cumprimentos, με εκτίμηση, have a nice day, have a good day, have a \
    great day, bonne soirée, bien à toi, un abrazo, um abraço, abs, ciao, a presto, buona giornata, \
    groet, vriendelijke groeten, hartelijke groet, hartelijke groeten, vänligen, pozdr, z \
    pozdrowieniami, с ув, всего доброго, хорошего дня, sevgiler, iyi çalışmalar, selamlar, धन्यवाद, \
    सादर, 고맙습니다, 수고하세요, お疲れ様です, お願いします, أطيب التحيات, ty, thank u, best wishes, with best wishes, warmly, \
    all the best, yours faithfully, yours truly, yours sincerely, talk soon, have a nice weekend, have a good weekend, \
    mit besten grüßen, mit freundlichem gruß, mit freundlichem gruss, mit herzlichen grüßen, herzliche grüße, beste \
    grüsse, danke im voraus, schönes wochenende, schönen tag noch, von unterwegs gesendet, met vriendelijke groeten, met \
    hartelijke groet, alvast bedankt, pozdrawiam serdecznie, serdecznie pozdrawiam, serdeczne pozdrowienia, un saludo \
    cordial, saludos cordiales, un cordial saludo, merci davance, merci d’avance, merci d'avance, très cordialement, \
    bien à vous, bisous, bonne semaine, bon week-end, com os melhores cumprimentos, melhores cumprimentos, un caro \
    saluto, buon lavoro, iyi günler, i̇yi günler, مع خالص التحية, hezký den, s přátelským pozdravem, med venlige \
    hilsner, bästa hälsningar, ystävällisin terveisin, parhain terveisin";

/// How a line with a phone number or an address begins.
pub(super) const CONTACTS: &str = "\
    tel phone mobile mobil cell fax www. http:// https:// m: t: p: e: email: e-mail: mail: тел 電話 电话 \
    هاتف";

/// What may follow a closing without a comma.
pub(super) const CLOSING_TAILS: &str = "\
    a lot, so much, again, in advance, and, à vous, à toi, im voraus, mille, anticip, antecip, very much, \
    everyone, all, team";

/// Small words inside names.
pub(super) const PARTICLES: &str = "\
    de da do dos das del della di du des van von der den ter ten la le el al bin ibn zu und y e af av";
