// Counts the timers and requests of the page that are still to come, so that it is known at any moment
// whether more may follow. The browser's own account of requests reaches us too late for that.
(() => {
  // Longer timers mostly remind, advertise or measure.
  const LONGEST = 15_000;
  const SHORT = 3_000;
  const timers = new Map();
  let requests = 0;

  const { setTimeout: start, clearTimeout: stop, fetch } = globalThis;
  globalThis.setTimeout = function (task, delay, ...rest) {
    const isCounted = typeof task === "function" && !(delay > LONGEST);
    const id = start.call(this, isCounted ? function (...given) {
      timers.delete(id);
      return task.apply(this, given);
    } : task, delay, ...rest);
    if (isCounted) timers.set(id, +delay || 0);
    return id;
  };
  globalThis.clearTimeout = function (id) {
    timers.delete(id);
    return stop.call(this, id);
  };

  const counted = (promise) => {
    requests += 1;
    const end = () => { requests -= 1; };
    promise.then(end, end);
    return promise;
  };
  globalThis.fetch = function (...given) {
    return counted(fetch.apply(this, given));
  };
  for (const name of ["text", "json", "blob", "arrayBuffer", "formData"]) {
    const read = Response.prototype[name];
    Response.prototype[name] = function () {
      return counted(read.call(this));
    };
  }
  const { send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.send = function (...given) {
    requests += 1;
    this.addEventListener("loadend", () => { requests -= 1; }, { once: true });
    try {
      return send.apply(this, given);
    } catch (error) {
      requests -= 1;
      throw error;
    }
  };

  Object.defineProperty(globalThis, "__pending", {
    value: () => {
      const delays = [...timers.values()];
      const all = { requests, timers: delays.length, short: delays.filter((delay) => delay <= SHORT).length };
      for (const frame of document.querySelectorAll("iframe")) {
        try {
          const inner = frame.contentWindow.__pending();
          for (const name of Object.keys(all)) all[name] += inner[name];
        } catch {
          // A frame of another origin, or one that is only just being made.
          continue;
        }
      }
      return all;
    },
  });
})()
