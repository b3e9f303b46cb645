// The inspector: connects, lists what a server offers, makes a form of each, and calls it.
"use strict";

(() => {
  const HISTORY = "citewell.inspector.history";
  const MOST_KEPT = 30;
  const at = (id) => document.getElementById(id);
  const texts = () => JSON.parse(at("inspector").dataset.texts);
  const say = (name, values = {}) =>
    Object.entries(values).reduce((words, [key, value]) => words.replace(`{${key}}`, value), texts()[name]);

  let client = null;
  let offered = { tools: [], resources: [], prompts: [] };
  let chosen = null;
  let calling = null;

  const originOf = (endpoint) =>
    URL.canParse(endpoint, location.href) ? new URL(endpoint, location.href).origin : null;
  const isOwn = (endpoint) => originOf(endpoint) === location.origin;
  const show = (id, words) => {
    at(id).textContent = words;
  };
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Connecting

  const askForKey = (isRefused) => {
    show("server", say(isRefused ? "key_refused" : "key_needed"));
    at("connection").elements.token.focus();
  };

  const connect = async () => {
    const { endpoint: field, token } = at("connection").elements;
    const endpoint = field.value.trim();
    const typed = token.value.replace(/^bearer\s+/i, "").trim();
    if (originOf(endpoint) === null) return show("server", say("no_address"));
    // The page's policy names the one other server it may call: for another one, another page.
    if (!isOwn(endpoint) && originOf(endpoint) !== originOf(field.defaultValue)) {
      return location.assign(`/mcp/debug?endpoint=${encodeURIComponent(endpoint)}`);
    }
    // The key of this browser is for this server alone: another one gets only what was typed for it.
    const kept = isOwn(endpoint) ? (citewell.headers().Authorization ?? "").slice(7) : "";
    await client?.close();
    client = new McpClient(new URL(endpoint, location.href).href, typed || kept);
    show("server", say("connecting"));
    at("inspector").hidden = true;
    try {
      const started = performance.now();
      const opened = await client.connect();
      offered = await listAll(opened.capabilities ?? {});
      const { name, version } = opened.serverInfo;
      const milliseconds = Math.round(performance.now() - started);
      show("server", say("connected", { name, version, protocol: opened.protocolVersion, milliseconds }));
      at("inspector").hidden = false;
      showTab("tools");
    } catch (error) {
      if (error.status === 401) askForKey(Boolean(typed || kept));
      // The browser says no more of an answer that it withholds than of none.
      else if (error instanceof TypeError && !isOwn(endpoint)) show("server", say("blocked", { origin: originOf(endpoint), page: location.origin }));
      else show("server", say("not_connected", { reason: error.message }));
    }
  };

  const listAll = async ({ resources, prompts }) => {
    const templates = resources ? await client.list("resources/templates/list", "resourceTemplates") : [];
    return {
      tools: inToolsets((await client.list("tools/list", "tools")).map((tool) => ({ ...tool, kind: "tool" }))),
      resources: [
        ...templates.map((template) => ({ ...template, uri: template.uriTemplate, group: say("templates") })),
        ...(resources ? await client.list("resources/list", "resources") : []).map((resource) => ({ ...resource, group: placeOf(resource.uri) })),
      ].map((resource) => ({ ...resource, kind: "resource" })),
      prompts: (prompts ? await client.list("prompts/list", "prompts") : []).map((prompt) => ({ ...prompt, kind: "prompt" })),
    };
  };

  // By the sets in which this server offers them, in the order of their first tools.
  const inToolsets = (tools) => {
    if (!isOwn(at("connection").elements.endpoint.value.trim())) return tools;
    const sets = JSON.parse(at("inspector").dataset.toolsets);
    const known = tools.map((tool) => ({ ...tool, group: sets[tool.name] ?? sets[tool.name.replace("_", ".")] ?? "" }));
    const order = [...new Set(known.map(({ group }) => group))];
    return known.toSorted((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
  };

  // What is offered

  const keyOf = ({ kind, name, uri }) => (kind === "resource" ? uri : name);

  const showTab = (name) => {
    at("tabs").querySelectorAll("button").forEach((tab) => {
      const { tab: which } = tab.dataset;
      const count = which === "history" ? pastCalls().length : offered[which].length;
      tab.querySelector(".count").textContent = count;
      tab.setAttribute("aria-pressed", String(which === name));
    });
    at("filter").value = "";
    at("list").replaceChildren(...(name === "history" ? pastCalls().map(pastItem) : grouped(offered[name])));
    if (!at("list").children.length) at("list").append(make("li", { className: "hint", textContent: say(`no_${name}`) }));
    if (name === "tools") at("list").querySelector("button")?.click();
    else at("chosen").hidden = true;
  };

  const markChosen = (button) => {
    at("list").querySelectorAll("[aria-current]").forEach((each) => each.removeAttribute("aria-current"));
    button?.setAttribute("aria-current", "true");
  };

  // Resources of a library differ in a number: they are listed by where they are and what they say.
  const placeOf = (uri) => uri.match(/^\w[\w+.-]*:\/\/[^/]*\/?/)?.[0] ?? "";

  // The signs around words of pages are for models.
  const withoutSigns = (text) => text.replace(/[\u27e6\u27e7]/g, "").replace(/(^|\s)\d{6}(?=\s|$)/g, "$1").trim();

  const grouped = (items) =>
    items.flatMap((each, place) => {
      const isFirst = each.group && each.group !== items[place - 1]?.group;
      const heading = isFirst ? [make("li", { className: "tool-group", textContent: each.group })] : [];
      return [...heading, offeredItem(each)];
    });

  const offeredItem = (each) => {
    const isResource = each.kind === "resource";
    const name = isResource ? (each.title ?? each.name ?? each.uri) : keyOf(each);
    const button = make("button", { type: "button", textContent: name, title: isResource ? each.uri : (each.title ?? "") });
    if (isResource) button.append(make("span", { className: "hint given", textContent: withoutSigns(each.description ?? "") || each.uri }));
    button.addEventListener("click", () => {
      markChosen(button);
      choose(each);
    });
    return make("li", {}, button);
  };

  const schemaOf = (each) => {
    if (each.kind === "tool") return each.inputSchema;
    const names =
      each.kind === "prompt"
        ? (each.arguments ?? [])
        : [...each.uri.matchAll(/\{\+?(\w+)\*?\}/g)].map(([, name]) => ({ name, required: true }));
    return {
      properties: Object.fromEntries(names.map(({ name, description }) => [name, { type: "string", description }])),
      required: names.filter(({ required }) => required).map(({ name }) => name),
    };
  };

  const choose = (each) => {
    chosen = each;
    show("chosen-name", keyOf(each));
    show("chosen-description", each.description ?? "");
    show("timing", "");
    show("send", say(`send_${each.kind}`));
    at("fields").replaceChildren(...schemaForm.fieldsOf(schemaOf(each), texts()));
    at("result").hidden = true;
    at("chosen").hidden = false;
  };

  // Calling

  const requestOf = ({ kind, name, uri }, args) => {
    if (kind === "tool") return ["tools/call", { name, arguments: args }];
    if (kind === "prompt") return ["prompts/get", { name, arguments: args }];
    const filled = uri.replace(/\{(\+?)(\w+)\*?\}/g, (_, raw, field) => (raw ? args[field] : encodeURIComponent(args[field])));
    return ["resources/read", { uri: filled }];
  };

  const call = async () => {
    const args = schemaForm.argumentsOf(at("call"), texts());
    if (args === null || calling) return;
    const called = chosen;
    calling = new AbortController();
    ["progress", "content-text", "structured", "raw"].forEach((id) => show(id, ""));
    at("structured-part").hidden = true;
    at("result").hidden = false;
    at("cancel").hidden = false;
    show("timing", say("calling"));
    const started = performance.now();
    const seconds = () => ((performance.now() - started) / 1000).toFixed(3);
    let outcome = "done";
    try {
      const result = await client.request(...requestOf(called, args), {
        signal: calling.signal,
        onProgress: (progress) => {
          const said = withoutSigns(String(progress.message ?? progress.progress));
          at("progress").textContent += `${seconds()} s  ${said}\n`;
        },
      });
      showResult(result);
      outcome = result.isError ? "error" : "done";
      show("timing", say(outcome, { seconds: seconds() }));
    } catch (error) {
      outcome = calling.signal.aborted ? "cancelled" : "failed";
      show("timing", say(outcome, { seconds: seconds(), reason: error.message }));
    } finally {
      calling = null;
      at("cancel").hidden = true;
      at("progress-part").hidden = !at("progress").textContent;
      bringIntoView();
      keep({ kind: called.kind, key: keyOf(called), args, outcome, seconds: seconds(), at: new Date().toISOString() });
    }
  };

  // A long form would leave what came back below the edge of the screen.
  const bringIntoView = () => {
    const heading = at("result-heading");
    heading.focus({ preventScroll: true });
    if (heading.getBoundingClientRect().top > innerHeight * 0.6) heading.scrollIntoView({ block: "start" });
  };

  const textOf = (block) => block.text ?? block.content?.text ?? JSON.stringify(block, null, 2);

  const showResult = (result) => {
    const blocks = result.content ?? result.contents ?? result.messages ?? [];
    show("content-text", blocks.map(textOf).join("\n\n"));
    const structured = result.structuredContent;
    at("structured-part").hidden = structured === undefined;
    if (structured !== undefined) show("structured", JSON.stringify(structured, null, 2));
    show("raw", JSON.stringify(result, null, 2));
  };

  // What was called, kept in this tab so that it can be sent again

  const pastCalls = () => {
    try {
      return JSON.parse(sessionStorage.getItem(HISTORY) ?? "[]");
    } catch {
      return [];
    }
  };

  const keep = (past) => {
    try {
      sessionStorage.setItem(HISTORY, JSON.stringify([past, ...pastCalls()].slice(0, MOST_KEPT)));
    } catch {
      // Storage can be full or forbidden; there is no history then.
    }
    const tab = at("tabs").querySelector("[data-tab=history]");
    tab.querySelector(".count").textContent = pastCalls().length;
    if (tab.getAttribute("aria-pressed") !== "true") return;
    at("list").replaceChildren(...pastCalls().map(pastItem));
    markChosen(at("list").querySelector("button"));
    filter();
  };

  const findOffered = ({ kind, key }) => offered[`${kind}s`].find((each) => keyOf(each) === key);

  const pastItem = (past) => {
    const shown = `${past.seconds} s · ${new Date(past.at).toLocaleTimeString()}`;
    const hint = make("span", { className: past.outcome === "done" ? "hint" : "error hint", textContent: shown });
    const given = make("span", { className: "hint given", textContent: JSON.stringify(past.args) });
    const button = make("button", { type: "button", disabled: !findOffered(past) }, past.key, given, hint);
    button.addEventListener("click", () => {
      markChosen(button);
      choose(findOffered(past));
      schemaForm.fill(at("call"), past.args);
      show("send", say("send_again"));
    });
    return make("li", {}, button);
  };

  const filter = () => {
    const wanted = at("filter").value.trim().toLowerCase();
    let heading = null;
    for (const item of at("list").children) {
      const isHeading = item.matches(".tool-group");
      item.hidden = isHeading || !item.textContent.toLowerCase().includes(wanted);
      if (isHeading) heading = item;
      else if (heading && !item.hidden) heading.hidden = false;
    }
  };

  // The address may bring a token along (seed C); it is taken out of it before anything else.
  const takeToken = (address) => {
    const token = address.searchParams.get("token");
    if (token === null) return;
    at("connection").elements.token.value = token.replace(/^bearer\s+/i, "").trim();
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const address = new URL(location.href);
    const isAsked = address.searchParams.has("endpoint") || address.searchParams.has("token");
    takeToken(address);
    at("connection").addEventListener("submit", (event) => {
      event.preventDefault();
      connect();
    });
    at("call").addEventListener("submit", (event) => {
      event.preventDefault();
      call();
    });
    at("cancel").addEventListener("click", () => calling?.abort());
    at("filter").addEventListener("input", filter);
    at("tabs").addEventListener("click", (event) => {
      const tab = event.target.closest("[data-tab]");
      if (tab) showTab(tab.dataset.tab);
    });
    window.addEventListener("pagehide", () => client?.close());
    const { endpoint, token } = at("connection").elements;
    const ownHint = token.placeholder;
    const sayWhichKey = () => {
      token.placeholder = isOwn(endpoint.value.trim()) ? ownHint : token.dataset.foreign;
    };
    endpoint.addEventListener("input", sayWhichKey);
    sayWhichKey();
    if (isAsked && !("notTaken" in at("connection").dataset)) connect();
    else at("connect").focus();
  });
})();
