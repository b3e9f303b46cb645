// The TypeScript SDK 1.x: the handshake era of the protocol.
"use strict";

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const {
  StreamableHTTPClientTransport,
} = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const {
  CallToolResultSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} = require("@modelcontextprotocol/sdk/types.js");

const { connectTo } = require("./account.cjs");
const { holdConversation } = require("./conversation.cjs");

async function connect({ server, person }) {
  const client = new Client(
    { name: "sdk1", version: "1" },
    { capabilities: { elicitation: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => person.reply(params));
  await connectTo(server, client, { StreamableHTTPClientTransport, StdioClientTransport });
  return {
    client,
    era: "legacy",
    call: (name, given, options) =>
      client.callTool({ name, arguments: given }, CallToolResultSchema, options),
    follow: {
      onChange: (notify) =>
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
          notify(params.uri),
        ),
      start: (uri) => client.subscribeResource({ uri }),
    },
  };
}

holdConversation(connect);
