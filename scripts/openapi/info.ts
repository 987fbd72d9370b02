import { readFileSync } from 'node:fs'

const { name, version, license, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const info = {
  title: name,
  version,
  description: `${description}

All errors have the body \`Error\`. Times are integer milliseconds since the Unix epoch. Unknown fields of a request are
refused, except in the bodies of \`/run\`, \`/run/approve\` and \`/run/sync\`; later versions may add fields to answers.`,
  contact: { name: `The maintainers of ${name}` },
  license: { name: license, identifier: license }
}

/** The tags of routes, with their descriptions. */
export const TAGS: Record<string, string> = {
  service: 'The service itself: its health, configuration, backups and documentation',
  agent: 'Conversations with the agent: runs as streams of events',
  openai: "OpenAI's chat completions, for clients that speak them",
  usage: 'What model calls used, and what it cost',
  approvals: 'All that waits for a person: calls of tools and results of tasks',
  notifications: 'What a person is to be told, by a shell, a page or a webhook',
  'tool calls': 'Calls of the tools of applications, which execute them',
  commands: 'Commands in the background, which stay when their calls have ended',
  runs: 'Runs of conversations and of tasks: what they did, the files that they changed, and their undo',
  events: 'One stream of all that happens, which readers can resume',
  tasks: 'Background work: goals with a plan, a schedule and a history of runs',
  brain: 'Facts and preferences of the user, which every run gets in its system prompt',
  agents: 'Options under a name, for conversations, requests and tasks',
  threads: 'Stored conversations',
  attachments: 'Files that messages of conversations name',
  providers: 'The providers of models, and the models in use',
  folders: 'The folders of this computer, for a person who chooses one',
  skills: 'Folders with instructions for kinds of work, which the agent reads when it needs them',
  mcp: 'Tool servers (MCP), whose tools the agent can use'
}

export const servers = [{ url: 'http://127.0.0.1:3001', description: 'The default address of the service' }]

export const securitySchemes = {
  token: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'Required only if the service was started with LOCAL_AGENT_TOKEN'
  }
}
