import { cpSync, mkdtempSync } from 'node:fs'
import type { Test } from 'tap'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

const PRELOAD = new URL('./kill-at-write.ts', import.meta.url).href

/** A directory in which the service, with this model and configuration, has run once: what it makes for itself only at first is there. */
export async function prepareDirectory (t: Test, script: object[], config: object = {}): Promise<string> {
  const whole = JSON.stringify({ model: 'offline/scripted', offline: { script }, ...config })
  const dir = `${t.testdir({ ready: { home: { 'config.json': whole }, work: {} } })}/ready`
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  await service.stop()
  return dir
}

/** The number of durable writes that a service told of in its log. */
export const writesIn = (log: string): number => log.split('\n').filter((line) => line.startsWith('write ')).length

/** The service on a copy of such a directory and with that environment, until it dies at that write (see kill-at-write.ts). */
export async function startDying (t: Test, prepared: string, killAt: string, env: NodeJS.ProcessEnv = {}) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const where = { home: `${dir}/home`, cwd: `${dir}/work`, env }
  let deaths = 0
  const revive = () => {
    deaths++
    return startService(t, where)
  }
  return {
    home: where.home,
    cwd: where.cwd,
    /** Its first write comes before it listens. */
    first: await startService(t, { ...where, preload: [PRELOAD], env: { ...env, KILL_AT: killAt } }).catch(revive),
    /** It died, and is started again. */
    revive,
    get deaths () {
      return deaths
    },

    /** Whether it died once, as it was to. Writes of the same moment share one, so that a life may have fewer than the one counted. */
    died: (service: Sidecar): boolean => deaths === 1 || (deaths === 0 && writesIn(service.log()) <= Number(killAt.split(' ')[0]))
  }
}

type Tasks = Awaited<ReturnType<typeof tasksOf>>

/** A client of the tasks of a service that dies once: what the death cut is done again in its next life. */
export function insistentClient (t: Test, lives: Awaited<ReturnType<typeof startDying>>) {
  let service = lives.first
  return {
    /** The service as it lives now. */
    get service () {
      return service
    },
    async insist<T> (work: (tasks: Tasks) => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await work(await tasksOf(t, service))
        } catch (error) {
          const { exitCode, signalCode } = service.child
          const isCut = exitCode !== null || signalCode !== null || error instanceof TypeError || /stream ended/.test(String(error))
          if (!isCut) throw error
          await service.exited
          if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`, { cause: error })
          service = await lives.revive()
        }
      }
    }
  }
}
