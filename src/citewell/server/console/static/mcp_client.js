// A small MCP client over streamable HTTP: handshake, requests, progress, cancellation.
"use strict";

const VERSION = "2025-11-25";

class McpClient {
  #endpoint;
  #token;
  #session = null;
  #version = VERSION;
  #nextId = 1;

  constructor(endpoint, token) {
    this.#endpoint = endpoint;
    this.#token = token;
  }

  async connect() {
    const capabilities = {};
    const clientInfo = { name: "citewell-inspector", version: "1" };
    const opened = await this.request("initialize", {
      protocolVersion: VERSION,
      capabilities,
      clientInfo,
    });
    this.#version = opened.protocolVersion;
    await this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return opened;
  }

  // Every page of a list, such as `tools` by `tools/list`.
  async list(method, name) {
    const items = [];
    let cursor;
    do {
      const page = await this.request(method, cursor ? { cursor } : {});
      items.push(...page[name]);
      cursor = page.nextCursor;
    } while (cursor);
    return items;
  }

  // `signal` cancels the request: the server is notified and the wait ends.
  async request(method, params, { onProgress, signal } = {}) {
    const id = this.#nextId++;
    const message = { jsonrpc: "2.0", id, method, params: { ...params } };
    if (onProgress) message.params._meta = { progressToken: id };
    signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    const answer = await this.#send(message, { signal });
    this.#session = answer.headers.get("mcp-session-id") ?? this.#session;
    for await (const received of this.#messages(answer)) {
      if (received.method === "notifications/progress") onProgress?.(received.params);
      else if (received.id === id) return McpClient.#resultOf(received);
    }
    throw new Error("The server closed the stream without an answer.");
  }

  async close() {
    if (!this.#session) return;
    await fetch(this.#endpoint, { method: "DELETE", headers: this.#headers() }).catch(() => {});
  }

  #cancel(requestId) {
    const message = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
    this.#send(message).catch(() => {});
  }

  #headers() {
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    if (this.#session) {
      headers["Mcp-Session-Id"] = this.#session;
      headers["MCP-Protocol-Version"] = this.#version;
    }
    return headers;
  }

  async #send(message, { signal } = {}) {
    const answer = await fetch(this.#endpoint, {
      method: "POST",
      headers: this.#headers(),
      body: JSON.stringify(message),
      credentials: "omit",
      cache: "no-store",
      signal,
    });
    if (!answer.ok) {
      throw Object.assign(new Error(await McpClient.#reasonOf(answer)), { status: answer.status });
    }
    return answer;
  }

  async *#messages(answer) {
    if (!(answer.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      yield await answer.json();
      return;
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      // The two characters that end a line may come apart.
      unread = (unread + value).replaceAll("\r\n", "\n");
      const events = unread.split("\n\n");
      unread = events.pop();
      for (const event of events) {
        const lines = event.split("\n").filter((line) => line.startsWith("data:"));
        const data = lines.map((line) => line.slice(5).trimStart()).join("\n");
        if (data) yield JSON.parse(data);
      }
    }
  }

  static #resultOf(message) {
    if (message.error) throw new Error(`${message.error.message} (${message.error.code})`);
    return message.result;
  }

  static async #reasonOf(answer) {
    const text = await answer.text();
    try {
      const body = JSON.parse(text);
      return `${answer.status}: ${body.error?.message ?? body.error_description ?? body.error}`;
    } catch {
      return `${answer.status}: ${text.slice(0, 300) || answer.statusText}`;
    }
  }
}
