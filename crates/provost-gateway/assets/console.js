// Keeps what is shown fresh, and adds keys. Everything works without it, except that nothing comes by itself.
"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const list = one("#list");
  const title = document.title.replace(/^\(\d+\) /, "");
  // Who decided what, as the feed told it.
  const ends = new Map();
  let skew = list ? Number(list.dataset.now) - Date.now() : 0;

  // ---- time

  function roughly(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86400)} d`;
  }

  // The server writes times in UTC and says so. Readers have a zone of their own.
  const in_zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

  function localise(within) {
    for (const at of all("time[datetime]", within)) {
      const time = new Date(at.getAttribute("datetime"));
      if (Number.isNaN(time.getTime())) continue;
      const text = in_zone.format(time);
      if (at.classList.contains("clock")) at.textContent = text;
      at.title = `${text} (${time.toISOString().slice(0, 19).replace("T", " ")} UTC)`;
    }
  }

  // A filter by time is written in the reader's zone, and sent as UTC.
  function localise_filter() {
    const pad = (number) => String(number).padStart(2, "0");
    for (const field of all("input[type=datetime-local]")) {
      const time = field.value && new Date(`${field.value}Z`);
      if (time) {
        field.value = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}T${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
      }
      const label = one(".zone", field.closest("label"));
      label.textContent = label.textContent.replace(", UTC", "");
      field.form.addEventListener("formdata", (event) => {
        const local = field.value && new Date(field.value);
        if (local) event.formData.set(field.name, local.toISOString().slice(0, 19));
      });
    }
  }

  function tell() {
    const now = Date.now() + skew;
    for (const at of all("[data-since]")) at.textContent = `${roughly(now - Number(at.dataset.since))} ago`;
    for (const at of all("[data-until]")) {
      const left = Number(at.dataset.until) - now;
      at.textContent = left > 0 ? `${roughly(left)} left` : "time is over";
      at.classList.toggle("soon", left < 60000);
    }
  }

  function show_count(pending) {
    document.title = pending > 0 ? `(${pending}) ${title}` : title;
    const count = one("#count");
    count.textContent = pending;
    count.hidden = pending === 0;
    show_badge(pending);
  }

  // ---- what is new: a number on the icon, and a sound or a notification for those who want it

  const icon = one("link[rel=icon]");
  const plain_icon = icon.href;

  function show_badge(pending) {
    if (pending === 0) {
      icon.href = plain_icon;
      return;
    }
    const number = pending > 99 ? "99" : String(pending);
    const drawn = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5bd8"/><circle cx="18" cy="18" r="14" fill="#b3261e"/><text x="18" y="25" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="#fff">${number}</text></svg>`;
    icon.href = `data:image/svg+xml,${encodeURIComponent(drawn)}`;
  }

  const remembered = (name) => {
    try {
      return localStorage.getItem(`provost.${name}`) === "yes";
    } catch {
      return false;
    }
  };
  const remember = (name, wanted) => {
    try {
      localStorage.setItem(`provost.${name}`, wanted ? "yes" : "no");
    } catch {
      // A browser that keeps nothing asks again next time.
    }
  };
  let speaker = null;

  // Browsers let a page make a sound once somebody has used it.
  function open_speaker() {
    if (!remembered("sound")) return;
    speaker ||= new AudioContext();
    speaker.resume();
  }

  function play() {
    open_speaker();
    if (!speaker) return;
    for (const [at, pitch] of [[0, 660], [0.16, 880]]) {
      const [tone, volume] = [speaker.createOscillator(), speaker.createGain()];
      const begin = speaker.currentTime + at;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.12, begin);
      volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.15);
      tone.connect(volume).connect(speaker.destination);
      tone.start(begin);
      tone.stop(begin + 0.16);
    }
  }

  function arrived(about) {
    if (remembered("sound")) play();
    const may = remembered("notify") && "Notification" in window && Notification.permission === "granted";
    if (!may || !document.hidden) return;
    const note = new Notification(`${about.tool} for ${about.agent_id}`, { body: "Waits for a decision", tag: about.approval_id });
    note.onclick = () => {
      window.focus();
      note.close();
    };
  }

  async function want_notifications(tick) {
    const why = one("#notify-why");
    why.textContent = "";
    if (tick.checked) {
      const permission = "Notification" in window ? await Notification.requestPermission() : "denied";
      tick.checked = permission === "granted";
      if (!tick.checked) why.textContent = "This browser does not allow it. Allow notifications for this page in its settings.";
    }
    remember("notify", tick.checked);
  }

  function offer_notices() {
    const [sound, notify] = [one("#sound"), one("#notify")];
    one(".notices").hidden = false;
    sound.checked = remembered("sound");
    notify.checked = remembered("notify") && "Notification" in window && Notification.permission === "granted";
    sound.addEventListener("change", () => {
      remember("sound", sound.checked);
      if (sound.checked) play();
    });
    notify.addEventListener("change", () => want_notifications(notify));
  }

  // ---- the list, merged so that nobody loses what they are typing or where they are

  const is_touched = (card) =>
    all("textarea", card).some((field) => field.value !== field.defaultValue) || all("input:checked", card).length > 0;

  function retire(card) {
    if (card.classList.contains("gone")) return;
    const name = one("h2", card).textContent.trim();
    const said = document.createElement("p");
    said.textContent = `${name}: ${ends.get(card.dataset.id) || "decided, or its time is over"}.`;
    const typed = all("textarea", card).map((field) => field.value).filter((text) => text !== "");
    // What follows stays where it is for a moment: a finger may be on its way to a button.
    card.style.minHeight = `${card.offsetHeight}px`;
    const had_focus = card.contains(document.activeElement);
    card.replaceChildren(said);
    card.classList.add("gone");
    if (typed.length > 0) {
      const kept = document.createElement("p");
      kept.className = "lines";
      kept.textContent = `Your note was not sent: ${typed.join("\n")}`;
      card.append(kept);
    } else {
      setTimeout(() => card.remove(), 4000);
    }
    if (had_focus) card.focus({ preventScroll: true });
  }

  function freshen(card, newer) {
    for (const part of [".times", ".badges", ".people"]) {
      const [old, fresh] = [one(part, card), one(part, newer)];
      if (old && fresh) old.replaceWith(fresh);
      else if (old) old.remove();
      else if (fresh) one("header", card).after(fresh);
    }
    if (Boolean(one("form", card)) !== Boolean(one("form", newer)) && !is_touched(card)) card.replaceWith(newer);
  }

  function merge(fresh) {
    skew = Number(fresh.dataset.now) - Date.now();
    const news = [];
    const wanted = new Set(all("article", fresh).map((card) => card.id));
    for (const card of all("article", list)) if (!wanted.has(card.id)) retire(card);
    for (const other of all(":scope > :not(article)", list)) other.remove();
    for (const node of Array.from(fresh.children)) {
      const known = node.id && document.getElementById(node.id);
      if (node.localName === "article" && known && !known.classList.contains("gone")) {
        freshen(known, node);
      } else {
        if (node.localName === "article") {
          node.classList.add("fresh");
          news.push(one("h2", node).textContent.trim());
          list.append(node);
        } else if (node.id === "empty" || node.id === "more") {
          list.append(node);
        } else {
          list.prepend(node);
        }
      }
    }
    one("#bulk").hidden = wanted.size === 0;
    if (news.length > 0) one("#news").textContent = `New: ${news.join(", ")}`;
    show_count(Number(fresh.dataset.pending));
    show_ticked();
    localise(list);
    tell();
  }

  // ---- the feed

  let fetching = false;
  let again = false;

  async function refresh() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    try {
      const path = list ? `/console/fragment/inbox${location.search}` : "/console/fragment/count";
      const answer = await fetch(path, { redirect: "error" });
      if (answer.status === 401) return signed_out();
      if (!answer.ok) throw new Error(answer.status);
      const text = await answer.text();
      if (list) merge(new DOMParser().parseFromString(text, "text/html").getElementById("list"));
      else show_count(Number(text));
    } catch {
      one("#offline").hidden = false;
    } finally {
      fetching = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  }

  function signed_out() {
    feed?.close();
    const note = one("#offline");
    note.textContent = "You are signed out. ";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Sign in again";
    note.append(link);
    note.hidden = false;
  }

  // A form is under way: its answer is the next page, and what is heard meanwhile may be its own doing.
  let leaving = false;

  function heard(event) {
    if (leaving) return;
    const about = JSON.parse(event.data);
    if (event.type === "approval.resolved") {
      ends.set(about.approval_id, about.by ? `${about.status} by ${about.by}` : about.status);
      const page = one(`main [data-approval="${CSS.escape(about.approval_id)}"]`);
      const tells_end = page && one(".end", page);
      if (page && !tells_end && !is_touched(document)) location.reload();
      else if (page && !tells_end) one("#news").hidden = false;
    }
    if (event.type === "approval.created") arrived(about);
    refresh();
  }

  const NAMES = ["approval.created", "approval.claimed", "approval.escalated", "approval.counted", "approval.resolved", "stop", "resume"];
  let feed = null;

  function listen() {
    feed?.close();
    feed = new EventSource("/console/events");
    feed.onopen = () => {
      one("#offline").hidden = true;
      document.body.dataset.live = "yes";
      refresh();
    };
    feed.onerror = () => {
      delete document.body.dataset.live;
      one("#offline").hidden = false;
      // A browser tries again by itself, unless it was answered with an error.
      if (feed.readyState === EventSource.CLOSED) setTimeout(() => refresh().then(listen), 5000);
    };
    for (const name of NAMES) feed.addEventListener(name, heard);
  }

  // A browser has few connections for one host: pages that nobody sees hold none, except the inbox.
  function by_sight() {
    if (list) return;
    if (document.hidden) feed?.close();
    else listen();
  }

  // ---- ticking and keys

  function show_ticked() {
    if (!list) return;
    const ticks = all("#list input[type=checkbox]");
    const ticked = ticks.filter((tick) => tick.checked).length;
    one("#ticked").textContent = ticked === 0 ? "None ticked" : `${ticked} ticked:`;
    for (const button of all("#bulk button:not([hidden])")) button.disabled = ticked === 0;
    one("#all").checked = ticks.length > 0 && ticked === ticks.length;
  }

  function move(step) {
    const cards = all("#list article:not(.gone)");
    if (cards.length === 0) return;
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const to = at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + step));
    cards[to].focus();
    cards[to].scrollIntoView({ block: "nearest" });
  }

  // In a text, it sends the form. Where there is more than one choice, the text does not say which: the choices get the
  // focus, and nothing is sent. Held down, or pressed again, it chooses none of them.
  function send(event) {
    const field = event.target.closest?.("textarea, button, input:not([type=checkbox], [type=radio])");
    const form = field?.form;
    const buttons = form ? all("button:not([type=button], [hidden])", form).filter((button) => !button.disabled) : [];
    if (buttons.length === 0) return;
    event.preventDefault();
    if (event.repeat) return;
    if (buttons.length > 1) buttons[0].focus();
    else form.requestSubmit(buttons[0]);
  }

  // A key that was meant for the card before does not count for the one that has just got the focus.
  const is_settling = () => "settling" in document.body.dataset;

  // Enter that is held down may have moved the focus to the button: only a new press chooses it.
  const is_held_on_button = (event) => event.repeat && event.key === "Enter" && event.target.closest?.("button");

  function press(event) {
    if (is_held_on_button(event)) return event.preventDefault();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return send(event);
    if (!list || is_settling()) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const card = document.activeElement?.closest("#list article:not(.gone)");
    const act = (selector, how) => {
      const target = card && one(selector, card);
      if (target) how(target);
    };
    const keys = {
      j: () => move(1),
      k: () => move(-1),
      a: () => act("button[value=approve]", (button) => button.click()),
      d: () => act("button[value=deny]", (button) => button.click()),
      x: () => act("input[type=checkbox]", (tick) => tick.click()),
      n: () => act("details", (more) => {
        more.open = true;
        one("textarea", more).focus();
      }),
      Enter: () => {
        if (document.activeElement === card) act("h2 a", (link) => link.click());
        // Browsers would send the form of a tick.
        else return event.target.matches("[type=checkbox]");
      },
    };
    if (keys[event.key] && keys[event.key]() !== false) event.preventDefault();
  }

  if (list) {
    one(".tick.all").hidden = false;
    one(".keys").hidden = false;
    one("#all").addEventListener("change", (event) => {
      for (const tick of all("#list input[type=checkbox]")) tick.checked = event.target.checked;
      show_ticked();
    });
    list.addEventListener("change", show_ticked);
    show_ticked();
    offer_notices();
    after_deciding();
  }

  // The next card has the focus, and what was done is said once.
  function after_deciding() {
    const address = new URL(location.href);
    if (!address.searchParams.has("done")) return;
    const next = (address.hash && document.getElementById(address.hash.slice(1))) || one("#list article") || one("main");
    next.focus();
    next.scrollIntoView({ block: "nearest" });
    document.body.dataset.settling = "yes";
    setTimeout(() => delete document.body.dataset.settling, 400);
    one("#news").textContent = one(".banner p")?.textContent || "";
    for (const name of ["done", "of", "count", "left"]) address.searchParams.delete(name);
    address.hash = "";
    history.replaceState(null, "", address);
  }

  document.addEventListener("submit", () => (leaving = true));
  one("#next")?.focus();
  document.addEventListener("keydown", press);
  for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, open_speaker, { once: true });
  // A menu closes when one goes elsewhere.
  const menu = one(".others");
  document.addEventListener("click", (event) => menu.contains(event.target) || menu.removeAttribute("open"));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.removeAttribute("open");
    one("summary", menu).focus();
  });
  localise(document);
  localise_filter();
  show_badge(Number(one("#count").textContent));

  // ---- runs, shown anew while they go on

  const shown = one("[data-fresh]");
  let changes = null;
  let pressed = false;
  let missed = false;

  async function show_anew() {
    const answer = await fetch(shown.dataset.fresh + location.search, { redirect: "error" });
    if (answer.status === 401) return changes.close();
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // A press that has begun must find its button when it ends.
    missed = pressed;
    if (pressed) return;
    shown.replaceChildren(...fresh.body.children);
    localise(shown);
  }

  function released() {
    pressed = false;
    if (missed) show_anew();
  }

  function follow() {
    changes?.close();
    if (!shown || document.hidden) return;
    changes = new EventSource(shown.dataset.changes);
    changes.onopen = show_anew;
    changes.addEventListener("changed", show_anew);
  }

  if (shown) {
    shown.addEventListener("pointerdown", () => (pressed = true));
    // The click comes after the pointer is up.
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(released));
    document.addEventListener("visibilitychange", follow);
    addEventListener("pagehide", () => changes?.close());
    follow();
  }

  setInterval(tell, 1000);
  document.addEventListener("visibilitychange", by_sight);
  addEventListener("pagehide", () => feed?.close());
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    leaving = false;
    listen();
  });
  listen();
})();
