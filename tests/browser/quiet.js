// Says when a page has nothing more to do, so that tests wait for that and not for a time.
(() => {
  const ASKING = 300;  // within so many milliseconds an action has asked the server, or never will (sliders wait 200)
  const STILL = 100;  // what the server sent last has been drawn when nothing has changed for so many
  const LOST = 10000;  // after so many without any change: requests that are put together get one answer, maybe before
  const quiet = { sent: 0, seen: 0, unanswered: false, changed: performance.now(), begun: null };
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", () => { quiet.unanswered = false; quiet.changed = performance.now() });
    }
    send(data) {
      quiet.sent += 1;
      quiet.unanswered = true;
      quiet.changed = performance.now();
      super.send(data);
    }
  };
  new MutationObserver(() => { quiet.changed = performance.now() }).observe(document, {
    childList: true, subtree: true, characterData: true,
    attributeFilter: ["data-test-script-state", "data-stale", "disabled", "href", "src", "d"],
  });
  quiet.settled = () => {
    const now = performance.now();
    quiet.begun ??= now;
    const acted = quiet.sent > quiet.seen || now - quiet.begun > ASKING;
    const ready = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
    if (!acted || !ready || now - quiet.changed < (quiet.unanswered ? LOST : STILL)) return false;
    quiet.seen = quiet.sent;
    quiet.begun = null;
    return true;
  };
  window.quiet = quiet;
  // What fades in or out would be judged on its way, and so would what a running script is about to draw again.
  addEventListener("DOMContentLoaded", () => {
    const style = document.createElement("style");
    style.textContent = "*, *::before, *::after { transition: none !important; animation: none !important }"
      + " [data-stale] { opacity: 1 !important }";
    document.head.append(style);
  });
})();
