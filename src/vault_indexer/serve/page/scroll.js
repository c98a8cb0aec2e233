/** Where a view was scrolled to is kept in its entry of the history, so that Back leads there again. */

const SAVE_MS = 120;

/** Keep the position from now on. */
export function keepScroll() {
  history.scrollRestoration = "manual";
  let timer = 0;
  const save = () => history.replaceState({ ...history.state, scroll: Math.round(scrollY) }, "");
  addEventListener("click", save, true); // it may lead to another view
  addEventListener("scroll", () => {
    clearTimeout(timer);
    const address = location.href;
    timer = setTimeout(() => location.href === address && save(), SAVE_MS);
  }, { passive: true });
}

/**
 * Scroll to where this entry of the history was left, once the page is high enough, unless a person scrolls first.
 * @param {Element} main what grows
 * @param {AbortSignal} signal ends the wait
 */
export function restoreScroll(main, signal) {
  const wanted = history.state?.scroll;
  if (!wanted) return;
  const done = new AbortController();
  const until = { signal: AbortSignal.any([signal, done.signal]) };
  const observer = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - innerHeight < wanted) return;
    scrollTo(0, wanted);
    done.abort();
  });
  observer.observe(main);
  until.signal.addEventListener("abort", () => observer.disconnect());
  for (const name of ["wheel", "pointerdown", "keydown", "touchstart"]) {
    addEventListener(name, () => done.abort(), until);
  }
}
