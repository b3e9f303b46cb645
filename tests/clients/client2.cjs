// The TypeScript client 2.x, which speaks both eras of the protocol.
"use strict";

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const { holdConversation } = require("./conversation.cjs");

async function connect({ server, negotiation, person }) {
  const client = new Client(
    { name: "client2", version: "1" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: negotiation } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => person.reply(params));
  const transport = server.url
    ? new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
      })
    : new StdioClientTransport(server);
  await client.connect(transport);
  return {
    client,
    era: client.getProtocolEra(),
    call: (name, given, options) => client.callTool({ name, arguments: given }, options),
  };
}

holdConversation(connect);
