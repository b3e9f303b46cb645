// What a host does with a server: the task is the first argument, the report is printed as JSON.
"use strict";

const readline = require("node:readline");

const person = {
  asked: [],
  reply(params) {
    this.asked.push(params.message);
    return { action: "accept", content: { answer: "Soup." } };
  },
};

const topics = { everything, list, restart };

/** Connect as `connect` does, talk about the topic of the task and print what was seen. */
async function holdConversation(connect) {
  const task = JSON.parse(process.argv[2]);
  const host = await connect({ ...task, person });
  const report = await topics[task.topic](host, () => connect({ ...task, person }), task);
  console.log(JSON.stringify(report));
  await host.client.close();
}

/** Do all that a host does in a day. */
async function everything({ client, era, call, follow }, _, { page, slowPage, changingPage }) {
  const { tools } = await client.listTools();
  const progress = [];
  const answer = await call(
    "answer",
    { url: page, query: "What does the grey heron eat?" },
    { onprogress: (told) => progress.push(told) },
  );
  return {
    era,
    server: client.getServerVersion().name,
    instructions: client.getInstructions(),
    tools: tools.map((tool) => tool.name),
    answer,
    progress,
    failed: await call("ingest", { url: "http://127.0.0.1:1/" }),
    unknown: await refusal(call("sing", {})),
    abandoned: await abandon(call, { url: slowPage }),
    afterwards: await call("ask_user", { question: "What to eat?" }),
    asked: person.asked,
    shelves: await readShelves(client, page),
    changes: await watch(call, follow, changingPage),
  };
}

/** Subscribe to a page, have it fetched again, and return what was announced. */
async function watch(call, follow, url) {
  const ingest = () => call("ingest", { url, force: true });
  const { content } = await ingest();
  const uri = `citewell://page/${/source_id (\d+)/.exec(content[0].text)[1]}`;
  const announced = new Promise((resolve) => follow.onChange(resolve));
  await follow.start(uri);
  await ingest();
  return { uri, announced: await announced };
}

/** List the tools. */
async function list({ client }) {
  const { tools } = await client.listTools();
  return { tools: tools.map((tool) => tool.name) };
}

/** Start `ingest` and give it up at its first sign of life. */
async function abandon(call, given) {
  const controller = new AbortController();
  let sign = null;
  const onprogress = (told) => {
    sign ??= told;
    controller.abort("enough");
  };
  const refused = await refusal(call("ingest", given, { signal: controller.signal, onprogress }));
  return { sign, refused };
}

/** Read what stands beside the tools. */
async function readShelves(client, page) {
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  const { uri } = resources.find((resource) => resource.name === "page 1");
  const { contents } = await client.readResource({ uri });
  const given = { url: page, question: "What do they eat?" };
  const { messages } = await client.getPrompt({ name: "research", arguments: given });
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "research" },
    argument: { name: "url", value: "heron" },
  });
  return {
    resources: resources.map((resource) => resource.name),
    templates: resourceTemplates.map((template) => template.name),
    text: contents[0].text,
    missing: await refusal(client.readResource({ uri: "citewell://scratch/1/2" })),
    prompts: prompts.length,
    prompt: messages[0].content.text,
    completed: completion.values,
  };
}

/** Call, wait for the line that says that the server is another one, and call again. */
async function restart(host, connectAgain) {
  const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  await host.call("status", {});
  console.log("ready");
  await lines.next();
  const refused = await refusal(host.call("status", {}));
  const anew = await connectAgain();
  const after = await anew.call("status", {});
  await anew.client.close();
  return { refused, after };
}

/** Return how a request was refused; null when it was not. */
async function refusal(request) {
  try {
    await request;
    return null;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

module.exports = { holdConversation };
