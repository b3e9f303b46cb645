// A person with an account at the authorization server, as the SDKs' OAuth clients know one: prints where
// to sign in, and reads the query of the redirect from stdin.
"use strict";

const readline = require("node:readline");

class Account {
  constructor(redirectUrl) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { client_name: "tests", redirect_uris: [redirectUrl] };
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.saved = tokens;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  redirectToAuthorization(address) {
    this.address = address;
  }

  /** Connect the client, with a sign-in when the server asks for one. */
  async connect(client, openTransport) {
    const first = openTransport();
    try {
      await client.connect(first);
    } catch (error) {
      if (!this.address) throw error;
      console.log(`authorize ${this.address}`);
      const lines = readline.createInterface({ input: process.stdin });
      const [line] = await require("node:events").once(lines, "line");
      lines.close();
      const { code, iss } = JSON.parse(line);
      await first.finishAuth(code, iss);
      await client.connect(openTransport());
    }
  }
}

/** Connect a client by stdio, or over HTTP as a person with an account; both SDKs name their transports alike. */
async function connectTo(server, client, { StreamableHTTPClientTransport, StdioClientTransport }) {
  const account = server.redirectUri ? new Account(server.redirectUri) : undefined;
  const openTransport = () =>
    server.url
      ? new StreamableHTTPClientTransport(new URL(server.url), {
          requestInit: { headers: server.headers },
          authProvider: account,
        })
      : new StdioClientTransport(server);
  if (account) await account.connect(client, openTransport);
  else await client.connect(openTransport());
}

module.exports = { connectTo };
