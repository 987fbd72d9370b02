import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent, type Agent, type AgentOptions } from './agent.ts'
import type { Address } from './create-client.ts'
import { AgentError } from './errors.ts'
import { health } from './generated/index.ts'

if (typeof Promise.withResolvers !== 'function') {
  throw new Error(`local-agent-service/client/node needs Node 22.18 or newer; ${process.execPath} is Node ${process.versions.node}.`)
}

/** The interval between two attempts to find a service that is starting, in milliseconds. */
const LOOK_MS = 100

/** The address of a service, and its token from LOCAL_AGENT_TOKEN. */
export interface Service {
  url: string
  token?: string
}

/**
 * Finds the service of this computer by LOCAL_AGENT_URL, or else by `instance.json` in LOCAL_AGENT_HOME (default `~/.local-agent`). The
 * token is LOCAL_AGENT_TOKEN. Starts nothing, and does not check that the service answers. Throws ERR_NO_SERVICE.
 */
export function findService (env: Record<string, string | undefined> = process.env): Service {
  const token = env.LOCAL_AGENT_TOKEN || undefined
  if (env.LOCAL_AGENT_URL) return { url: addressOf(env.LOCAL_AGENT_URL, 'LOCAL_AGENT_URL'), token }
  const file = join(env.LOCAL_AGENT_HOME || join(homedir(), '.local-agent'), 'instance.json')
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw noService(`No service runs here: there is no ${file}. Start the app that runs it, or local-agent; or set LOCAL_AGENT_URL.`, cause)
  }
  try {
    return { url: addressOf(JSON.parse(text).url, file), token }
  } catch (cause) {
    throw cause instanceof AgentError ? cause : noService(`${file} is damaged: it is not the file of a service.`, cause)
  }
}

export interface ConnectOptions extends AgentOptions {
  /** How long to wait for a service that is starting or restarting, in milliseconds; by default, not at all. */
  waitMs?: number
}

/**
 * Finds the service, checks that it answers, and returns an agent for it. The agent follows the service to a new address after a restart.
 * Throws ERR_NO_SERVICE.
 */
export async function connect ({ waitMs = 0, ...options }: ConnectOptions = {}): Promise<Agent> {
  for (const end = performance.now() + waitMs; ;) {
    try {
      return await connectNow(options)
    } catch (error) {
      if (performance.now() >= end) throw error
      await sleep(LOOK_MS)
    }
  }
}

async function connectNow ({ url, token, ...options }: AgentOptions): Promise<Agent> {
  const service: Partial<Service> = url === undefined ? findService() : {}
  const agent = createAgent({ ...options, url: url ?? followService(service.url!), token: token ?? service.token })
  const { error } = await health({ client: agent.client, throwOnError: false })
  if (error === undefined) return agent
  const address = agent.client.getConfig().baseUrl
  throw noService(`The service at ${address} does not answer: ${error.error} Start the app that runs it, or local-agent.`, error)
}

/** Returns a function that returns the current address of the service; its last address if the current one is unknown. */
function followService (last: string): Address {
  return () => {
    try {
      last = findService().url
    } catch {
      // No service runs, so the last address is returned: the request then fails with ERR_UNREACHABLE.
    }
    return last
  }
}

function addressOf (text: unknown, source: string): string {
  if (typeof text === 'string' && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '')
  throw noService(`${source} holds no http address: ${JSON.stringify(text)}.`)
}

const noService = (message: string, cause?: unknown) => new AgentError(message, { code: 'ERR_NO_SERVICE', cause })
