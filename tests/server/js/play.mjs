// One step of a plan is [key, method, params]; both TypeScript clients name their functions alike.
const functions = {
  ping: (client) => client.ping(),
  "tools/list": (client) => client.listTools(),
  "tools/call": (client, params) => client.callTool(params),
  "resources/list": (client) => client.listResources(),
  "resources/templates/list": (client) => client.listResourceTemplates(),
  "resources/read": (client, params) => client.readResource(params),
  "prompts/list": (client) => client.listPrompts(),
  "prompts/get": (client, params) => client.getPrompt(params),
  "completion/complete": (client, params) => client.complete(params),
};

export async function play(client, plan) {
  const said = { instructions: client.getInstructions() };
  for (const [key, method, params] of plan.steps) {
    try {
      said[key] = await functions[method](client, params);
    } catch (error) {
      said[key] = { error: { code: error.code, message: error.message } };
    }
  }
  return said;
}
