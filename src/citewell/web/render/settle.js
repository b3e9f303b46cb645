// Resolves once the document has stood still for `quiet` milliseconds, or after `most` at the latest.
(quiet, most) => new Promise((resolve) => {
  let calm = setTimeout(() => resolve(true), quiet);
  const end = setTimeout(() => resolve(false), most);
  const observer = new MutationObserver(() => {
    clearTimeout(calm);
    calm = setTimeout(() => {
      observer.disconnect();
      clearTimeout(end);
      resolve(true);
    }, quiet);
  });
  const everything = { subtree: true, childList: true, characterData: true };
  observer.observe(document, everything);
})
