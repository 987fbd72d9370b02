import { readFileSync } from 'node:fs'

const { name, version, license, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const info = {
  title: name,
  version,
  description: `${description}

Errors have one shape, \`Error\`. Times are integer milliseconds since the Unix epoch. Unknown fields of a request are
refused, but for the bodies of \`/run\`, \`/run/approve\` and \`/run/sync\`; answers may gain fields.`,
  license: { name: license, identifier: license }
}

/** Every tag a route may have. */
export const TAGS: Record<string, string> = {
  service: 'The service itself: what it is, how it is, its configuration and its documentation',
  agent: 'Conversations with the agent: runs as streams of events, and the approvals they wait for',
  tasks: 'Work in the background: goals with a plan, a schedule and a history of runs',
  brain: 'What is remembered of the user, and told to every run',
  threads: 'Conversations as they are stored',
  providers: 'Where models come from, and which are in use',
  mcp: 'Tool servers whose tools the agent uses like its own'
}

export const servers = [{ url: 'http://127.0.0.1:3001', description: 'Where the service listens unless it is told otherwise' }]

export const securitySchemes = {
  token: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'Only for a service that was started with LOCAL_AGENT_TOKEN; without it no credential is needed'
  }
}
