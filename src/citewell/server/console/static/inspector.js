// The inspector: connects, lists tools, makes a form of a tool's input schema, calls, shows it all.
"use strict";

(() => {
  const at = (id) => document.getElementById(id);
  let client = null;
  let tool = null;
  let calling = null;

  const originOf = (endpoint) =>
    URL.canParse(endpoint, location.href) ? new URL(endpoint, location.href).origin : null;
  const isOwn = (endpoint) => originOf(endpoint) === location.origin;

  const show = (id, text) => {
    at(id).textContent = text;
  };

  const connect = async () => {
    const form = at("connection");
    const endpoint = form.elements.endpoint.value.trim();
    const typed = form.elements.token.value.replace(/^bearer\s+/i, "").trim();
    if (originOf(endpoint) === null) return show("server", "That is not an address.");
    // The page's policy names the one other server it may call: for another one, another page.
    if (!isOwn(endpoint) && originOf(endpoint) !== originOf(form.elements.endpoint.defaultValue)) {
      return location.assign(`/mcp/debug?endpoint=${encodeURIComponent(endpoint)}`);
    }
    // The key of this browser is for this server alone: another one gets only what was typed for it.
    const kept = isOwn(endpoint) ? (citewell.headers().Authorization ?? "").slice(7) : "";
    await client?.close();
    client = new McpClient(new URL(endpoint, location.href).href, typed || kept);
    show("server", "Connecting…");
    at("inspector").hidden = true;
    try {
      const started = performance.now();
      const opened = await client.connect();
      const tools = await client.listTools();
      const took = Math.round(performance.now() - started);
      const { name, version } = opened.serverInfo;
      show("server", `${name} ${version}, protocol ${opened.protocolVersion}: ${tools.length} tools in ${took} ms`);
      listTools(tools);
    } catch (error) {
      show("server", `Cannot connect. ${error.message}`);
    }
  };

  const listTools = (tools) => {
    at("tools").replaceChildren(
      ...tools.map((each) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = each.name;
        button.title = each.title ?? each.name;
        button.addEventListener("click", () => choose(each, button));
        const item = document.createElement("li");
        item.append(button);
        return item;
      }),
    );
    at("inspector").hidden = false;
    at("tools").querySelector("button")?.click();
  };

  const choose = (chosen, button) => {
    tool = chosen;
    at("tools").querySelectorAll("button").forEach((each) => each.removeAttribute("aria-current"));
    button.setAttribute("aria-current", "true");
    show("tool-name", tool.name);
    show("tool-description", tool.description ?? "");
    show("timing", "");
    at("fields").replaceChildren(...fieldsOf(tool.inputSchema));
    at("result").hidden = true;
    at("tool").hidden = false;
  };

  const fieldsOf = (schema) =>
    Object.entries(schema.properties ?? {}).map(([name, property]) =>
      fieldOf(name, property, (schema.required ?? []).includes(name)),
    );

  const fieldOf = (name, property, isRequired) => {
    const label = document.createElement("label");
    const input = inputOf(property);
    input.name = name;
    input.required = isRequired;
    input.dataset.type = typeOf(property);
    const about = [isRequired ? "Required." : null, property.description].filter(Boolean).join(" ");
    label.append(name, input);
    if (about) {
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent = about;
      label.append(hint);
    }
    return label;
  };

  // A field that takes text or something else is text, unless what is written reads as JSON.
  const typeOf = (property) => {
    if (property.anyOf?.some((option) => option.type === "string")) return "text or JSON";
    return property.type ?? "json";
  };

  const inputOf = (property) => {
    if (property.enum || property.type === "boolean") return selectOf(property);
    const isText = ["string", "text or JSON"].includes(typeOf(property));
    const input = document.createElement(isText || isNumber(property) ? "input" : "textarea");
    if (isNumber(property)) {
      input.type = "number";
      input.step = property.type === "integer" ? "1" : "any";
      if ("minimum" in property) input.min = property.minimum;
      if ("maximum" in property) input.max = property.maximum;
    }
    if (!isText && !isNumber(property)) input.rows = 2;
    if ("default" in property) input.placeholder = JSON.stringify(property.default);
    else if (!isText && !isNumber(property)) input.placeholder = property.type === "array" ? "[…] as JSON" : "JSON";
    return input;
  };

  const isNumber = (property) => property.type === "integer" || property.type === "number";

  const selectOf = (property) => {
    const select = document.createElement("select");
    const values = property.enum ?? [true, false];
    const standard = "default" in property ? `default (${property.default})` : "–";
    select.append(new Option(standard, ""), ...values.map((value) => new Option(String(value), JSON.stringify(value))));
    return select;
  };

  const argumentsOf = (form) => {
    const args = {};
    for (const input of form.querySelectorAll("[data-type]")) {
      if (input.value === "") continue;
      try {
        args[input.name] = valueOf(input);
        input.setCustomValidity("");
      } catch {
        input.setCustomValidity("This is not valid JSON.");
        input.reportValidity();
        return null;
      }
    }
    return args;
  };

  const valueOf = (input) => {
    if (input.tagName === "SELECT") return JSON.parse(input.value);
    const isJson = /^\s*[[{]/.test(input.value);
    if (input.dataset.type === "string" || (input.dataset.type === "text or JSON" && !isJson)) {
      return input.value;
    }
    if (input.type === "number") return Number(input.value);
    return JSON.parse(input.value);
  };

  const call = async () => {
    const args = argumentsOf(at("call"));
    if (args === null || calling) return;
    calling = new AbortController();
    ["progress", "content-text", "structured", "raw"].forEach((id) => show(id, ""));
    at("result").hidden = false;
    at("cancel").hidden = false;
    show("timing", "Calling…");
    const started = performance.now();
    const seconds = () => ((performance.now() - started) / 1000).toFixed(3);
    try {
      const result = await client.callTool(tool.name, args, {
        signal: calling.signal,
        onProgress: (progress) => {
          at("progress").textContent += `${seconds()} s  ${progress.message ?? progress.progress}\n`;
        },
      });
      showResult(result);
      show("timing", `${result.isError ? "Error" : "Done"} after ${seconds()} s`);
    } catch (error) {
      show("timing", calling.signal.aborted ? `Cancelled after ${seconds()} s` : `Failed: ${error.message}`);
    } finally {
      calling = null;
      at("cancel").hidden = true;
      if (!at("progress").textContent) show("progress", "none");
    }
  };

  const showResult = (result) => {
    const blocks = (result.content ?? []).map((block) => block.text ?? JSON.stringify(block, null, 2));
    show("content-text", blocks.join("\n\n"));
    const structured = result.structuredContent;
    show("structured", structured === undefined ? "none" : JSON.stringify(structured, null, 2));
    show("raw", JSON.stringify(result, null, 2));
  };

  // The address may bring a token along (seed C); it is taken out of it before anything else.
  const takeToken = () => {
    const address = new URL(location.href);
    const token = address.searchParams.get("token");
    if (token === null) return;
    at("connection").elements.token.value = token.replace(/^bearer\s+/i, "").trim();
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  };

  document.addEventListener("DOMContentLoaded", () => {
    takeToken();
    at("connection").addEventListener("submit", (event) => {
      event.preventDefault();
      connect();
    });
    at("call").addEventListener("submit", (event) => {
      event.preventDefault();
      call();
    });
    at("cancel").addEventListener("click", () => calling?.abort());
    window.addEventListener("pagehide", () => client?.close());
    // A link from elsewhere could name any endpoint, so only our own is connected to unasked.
    if (isOwn(at("connection").elements.endpoint.value)) connect();
  });
})();
