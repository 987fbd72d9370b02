import { mkdtempSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '../client/index.ts'
import { health } from '../client/index.ts'
import { connect } from '../client/node.ts'
import { createSupervisor, type Supervisor } from '../supervisor/index.ts'

/** How long a service that another process starts may take to answer, milliseconds. */
const OTHER_MS = 10_000
/** How long a service that was found and has ended may take to come back, milliseconds: whoever started it may start it again. */
const BACK_MS = 10_000

export type ServiceAccess = ReturnType<typeof createServiceAccess>

/**
 * Finds the service of this machine by LOCAL_AGENT_URL or instance.json, or starts one on a free port. A service that was started here
 * ends with this process, also a killed one. When the found one has ended and does not come back, the next request starts one.
 */
export function createServiceAccess ({ env, report }: { env: NodeJS.ProcessEnv, report: (line: string) => void }) {
  let agent: Agent | undefined
  let supervisor: Supervisor | undefined
  let opening: Promise<Agent> | undefined
  /** An empty folder of the service that was started here. */
  let workspace: string | undefined

  async function start (cause: unknown): Promise<Agent> {
    // The service at that address is somebody else's to start.
    if (env.LOCAL_AGENT_URL) throw cause
    // The folder of an editor's process may be a home or the whole computer: only the folders of its sessions are open.
    workspace ??= mkdtempSync(join(tmpdir(), 'local-agent-editor-'))
    supervisor = createSupervisor({ args: ['--port', '0'], env, cwd: workspace, onLog: report })
    try {
      await supervisor.start()
    } catch (error) {
      supervisor = undefined
      // Another editor may have started one at the same time: the folder of data has one service.
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
    /** Returns the agent of the service that runs now. Throws when there is none and none can be started. */
    agent (): Promise<Agent> {
      opening ??= open().finally(() => {
        opening = undefined
      })
      return opening
    },

    /** The address at which a person can open the console; undefined before a service was found. */
    get url (): string | undefined {
      return agent?.client.getConfig().baseUrl
    },

    /** Ends the service if it was started here. */
    async end (): Promise<void> {
      await supervisor?.stop()
      if (workspace !== undefined) await rmdir(workspace).catch(() => {})
    }
  }
}
