// Says when a page first showed something new after an action, and when it changed last.
(() => {
  const STILL = 250;  // a page has come to rest when nothing has changed for so many milliseconds
  const ASKING = 600;  // within so many an action has asked the server, or never will
  const watched = { begun: 0, first: null, last: 0 };
  const changed = () => {
    watched.first ??= performance.now();
    watched.last = performance.now();
  };
  const observer = new MutationObserver((seen) => {
    // What says that a script runs is nothing new to see.
    if (seen.some(({ target }) => target.nodeType !== 1 || !target.closest("[data-testid=stStatusWidget]"))) changed();
  });
  const watch = (tree) => observer.observe(tree, {
    childList: true, subtree: true, characterData: true, attributeFilter: ["href", "src", "d", "data-stale", "value"],
  });
  watch(document);
  const attach = Element.prototype.attachShadow;  // a component draws in a tree of its own, which no other observer sees
  Element.prototype.attachShadow = function attachShadow(how) {
    const tree = attach.call(this, how);
    watch(tree);
    return tree;
  };
  watched.begin = () => {
    watched.first = null;
    watched.last = watched.begun = performance.now();
    return watched.begun;
  };
  watched.rested = () => {
    const now = performance.now();
    const ready = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
    return ready && now - watched.last > STILL && (watched.first !== null || now - watched.begun > ASKING);
  };
  watched.times = () => [watched.first ?? watched.last, watched.last];
  window.watched = watched;
})();
