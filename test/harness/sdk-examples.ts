import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

type Teardown = { teardown(handler: () => unknown): unknown }

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const PRELOAD = new URL('../fakes/any-port.js', import.meta.url).href
const example = (name: string) => `node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/${name}.js`

/** Starts a program that serves MCP over HTTP on ports of its own choice. Resolves, when it listens, to its addresses with free ports. */
async function startProgram (t: Teardown, args: string[], env: Record<string, string> = {}, count = 1): Promise<string[]> {
  const child = spawn(process.execPath, ['--import', PRELOAD, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ports: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /^listens on (\d+)$/.exec(line) ?? []
    if (port !== undefined) ports.push(port)
    if (ports.length === count) break
  }
  child.stdout.resume()
  return ports.map((port) => `http://localhost:${port}/mcp`)
}

/** Starts an example server of the MCP SDK. */
export const startExample = async (t: Teardown, name: string): Promise<string> => (await startProgram(t, [pathOf(example(name))]))[0]

/** Starts the server `everything` over Streamable HTTP. */
export const startEverything = async (t: Teardown): Promise<string> =>
  (await startProgram(t, [pathOf('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp']))[0]

/** Starts the SDK's example server together with its demo authorization server. Both write their ports into their metadata. */
export async function startGuardedExample (t: Teardown): Promise<string> {
  const [own, other] = await Promise.all([freePort(), freePort()])
  const env = { KEEP_PORT: '1', MCP_PORT: own, MCP_AUTH_PORT: other }
  await startProgram(t, [pathOf(example('simpleStreamableHttp')), '--oauth'], env, 2)
  return `http://localhost:${own}/mcp`
}
