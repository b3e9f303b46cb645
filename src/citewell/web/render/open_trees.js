// Opens the shadow trees that a page closes to scripts: what they show is read as its reader sees it.
(() => {
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) {
    return attachShadow.call(this, { ...options, mode: "open" });
  };
})()
