// A certified OpenID provider on loopback: sign-in by a form, dynamic registration, client ID metadata
// documents, a registered client, tokens bound to a resource. The environment says where, and for whom.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { default: Provider } = await import(require.resolve("oidc-provider"));

const { PORT, RESOURCE, TOKEN_FORMAT = "jwt", REDIRECT_URI, METADATA_DOCUMENTS } = process.env;
const documents = JSON.parse(METADATA_DOCUMENTS);
const issuer = `http://127.0.0.1:${PORT}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "citewell-console",
      client_secret: "a secret of the console",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  scopes: ["openid", "offline_access", "read", "write", "admin"],
  claims: { openid: ["sub", "preferred_username"] },
  conformIdTokenClaims: false,
  async findAccount(_, id) {
    return { accountId: id, claims: async () => ({ sub: id, preferred_username: id }) };
  },
  async extraTokenClaims(_, token) {
    return { preferred_username: token.accountId };
  },
  // Documents of clients have https addresses, which nothing serves here; nothing else is fetched.
  async fetch(url) {
    const client_id = String(url);
    if (!(client_id in documents)) throw new Error(`no document is kept for ${client_id}`);
    const body = {
      client_id,
      client_name: "A client with a document",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...documents[client_id],
    };
    return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  },
  features: {
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo(_, resource) {
        return { scope: "read write admin", audience: resource, accessTokenFormat: TOKEN_FORMAT };
      },
    },
  },
});

provider.listen(Number(PORT), "127.0.0.1", () => console.log("listening"));
