import { fileURLToPath } from 'node:url'
import type { App } from '../../app.ts'

const of = (program: string) => fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${program}/dist/index.js`, import.meta.url))

/** Real tool servers, as request bodies of POST /mcp/connect. */
export const everything = (name = 'everything', rest: object = {}) => ({
  name,
  command: process.execPath,
  args: [of('server-everything'), 'stdio'],
  ...rest
})
export const filesystem = (folder: string, name = 'files') => ({ name, command: process.execPath, args: [of('server-filesystem'), folder] })

/** Another reference server, by its name. */
export const real = (name: string, rest: object = {}) => ({ name, command: process.execPath, args: [of(`server-${name}`)], ...rest })

export const connect = (app: App, body: object) => app.inject({ method: 'POST', url: '/mcp/connect', payload: body })

/** The server that misbehaves; see test/fakes/mcp-server.ts for its options. */
export const misbehaving = (name = 'odd', options: string[] = [], rest: object = {}) => ({
  name,
  command: process.execPath,
  args: [fileURLToPath(new URL('../fakes/mcp-server.ts', import.meta.url)), ...options],
  ...rest
})

/** The server that sends notifications about its calls; see test/fakes/noting-server.ts. */
export const noting = (options: string[] = [], rest: object = {}) => ({
  name: 'noting',
  command: process.execPath,
  args: [fileURLToPath(new URL('../fakes/noting-server.ts', import.meta.url)), ...options],
  approval: 'never',
  ...rest
})

/** Returns the states of the servers, by name. */
export async function statuses (app: App): Promise<Record<string, string>> {
  const { servers } = (await app.inject('/mcp/servers')).json()
  return Object.fromEntries(servers.map(({ name, status }: { name: string, status: string }) => [name, status]))
}

/** Resolves when the server has this status. */
export async function until (app: App, name: string, status: string): Promise<void> {
  while ((await statuses(app))[name] !== status) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Returns the details of a server. */
export const detail = async (app: App, name: string) => (await app.inject(`/mcp/servers/${name}`)).json()
