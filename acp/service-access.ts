import { mkdtempSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '../client/index.ts'
import { health } from '../client/index.ts'
import { connect } from '../client/node.ts'
import { createSupervisor, type Supervisor } from '../supervisor/index.ts'

/** How long to wait for a service that another process is starting, in milliseconds. */
const OTHER_MS = 10_000
/** How long to wait for a lost service to come back, in milliseconds: the process that started it might restart it. */
const BACK_MS = 10_000

export type ServiceAccess = ReturnType<typeof createServiceAccess>

/**
 * Finds the service of this computer by LOCAL_AGENT_URL or instance.json, or starts one on a free port. A service that was started here
 * ends with this process, even if this process is killed. If a service that was found ends and does not come back, the next request starts
 * one.
 */
export function createServiceAccess ({ env, report }: { env: NodeJS.ProcessEnv, report: (line: string) => void }) {
  let agent: Agent | undefined
  let supervisor: Supervisor | undefined
  let opening: Promise<Agent> | undefined
  /** The empty folder in which a service that is started here runs. */
  let workspace: string | undefined

  async function start (cause: unknown): Promise<Agent> {
    // LOCAL_AGENT_URL names a service that somebody else is responsible for.
    if (env.LOCAL_AGENT_URL) throw cause
    // The working folder of an editor's process can be the home or the root of the file system. The service gets an empty folder instead,
    // so that only the folders of sessions are open to it.
    workspace ??= mkdtempSync(join(tmpdir(), 'local-agent-editor-'))
    supervisor = createSupervisor({ args: ['--port', '0'], env, cwd: workspace, onLog: report })
    try {
      await supervisor.start()
    } catch (error) {
      supervisor = undefined
      // Another editor might have started a service at the same time, and a data folder can have only one service.
      return await connect({ waitMs: OTHER_MS }).catch(() => { throw error })
    }
    return connect({ waitMs: OTHER_MS })
  }

  async function open (): Promise<Agent> {
    const wasFound = agent !== undefined && supervisor === undefined
    if (agent !== undefined) {
      if (supervisor !== undefined) {
        try {
          await supervisor.start()
          return agent
        } catch {
          supervisor = undefined
        }
      }
      const { error } = await health({ client: agent.client, throwOnError: false })
      if (error === undefined) return agent
    }
    try {
      agent = await connect({ waitMs: wasFound ? BACK_MS : 0 })
    } catch (cause) {
      agent = await start(cause)
    }
    return agent
  }

  return {
    /** Returns the agent of the running service. Throws if no service runs and none can be started. */
    agent (): Promise<Agent> {
      opening ??= open().finally(() => {
        opening = undefined
      })
      return opening
    },

    /** The address of the service, with its console; undefined until a service was found. */
    get url (): string | undefined {
      return agent?.client.getConfig().baseUrl
    },

    /** Ends the service, but only if it was started here. */
    async end (): Promise<void> {
      await supervisor?.stop()
      if (workspace !== undefined) await rmdir(workspace).catch(() => {})
    }
  }
}
