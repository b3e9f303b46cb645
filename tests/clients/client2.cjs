// The TypeScript client 2.x, which speaks both eras of the protocol.
"use strict";

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const { connectTo } = require("./account.cjs");
const { holdConversation } = require("./conversation.cjs");

async function connect({ server, negotiation, person }) {
  const client = new Client(
    { name: "client2", version: "1" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: negotiation } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => person.reply(params));
  await connectTo(server, client, { StreamableHTTPClientTransport, StdioClientTransport });
  return {
    client,
    era: client.getProtocolEra(),
    call: (name, given, options) => client.callTool({ name, arguments: given }, options),
    follow: {
      onChange: (notify) =>
        client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
          notify(params.uri),
        ),
      start: (uri) =>
        client.getProtocolEra() === "legacy"
          ? client.subscribeResource({ uri })
          : client.listen({ resourceSubscriptions: [uri] }),
    },
  };
}

holdConversation(connect);
