// A button that offers several things to do: a list that opens below it, by pointer or by keys.

import { make, get } from "./make.js";

const ROOM = 8; // pixels to the edge of the window

// offers: () -> [[text, work], ...]; of a single one there is nothing to choose.
export function offering(button, offers) {
  button.setAttribute("aria-haspopup", "menu");
  button.addEventListener("click", () => {
    const all = offers();
    if (all.length === 1) all[0][1]();
    else open(button, all);
  });
  return button;
}

function open(button, offers) {
  const menu = get("menu");
  menu.replaceChildren(...offers.map(([text, work]) => make("button", { role: "menuitem", textContent: text, disabled: !work, onclick: () => { menu.hidePopover(); button.focus(); work(); } })));
  menu.showPopover();
  const { left, top, bottom } = button.getBoundingClientRect();
  const below = bottom + menu.offsetHeight + ROOM < innerHeight;
  menu.style.left = `${Math.max(ROOM, Math.min(left, innerWidth - menu.offsetWidth - ROOM))}px`;
  menu.style.top = `${below ? bottom + 2 : Math.max(ROOM, top - menu.offsetHeight - 2)}px`;
  menu.querySelector("button:enabled")?.focus();
}

get("menu").addEventListener("keydown", (event) => {
  const items = [...get("menu").querySelectorAll("button:enabled")], k = items.indexOf(document.activeElement);
  const to = { ArrowDown: k + 1, ArrowUp: k - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") get("menu").hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items.at(to % items.length).focus();
});
