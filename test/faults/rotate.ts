import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { serviceEnv } from '../harness/sidecar.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const KILLER = new URL('./kill-at-step.ts', import.meta.url).href
/** Fast enough to be tried at every step, and more than one write. */
const RECORDS = 250

/** Runs the command of the built service; `at` is where it is killed. */
export async function rotate (
  home: string,
  env: NodeJS.ProcessEnv = {},
  at?: string
): Promise<{ code: number | null, signal: string | null, err: string }> {
  const preload = at === undefined ? [] : ['--import', KILLER]
  return promisify(execFile)(process.execPath, [...preload, SERVER, 'rotate-key'], {
    env: { ...serviceEnv(home), ...env, ...(at !== undefined && { KILL_AT: at }) }
  })
    .then(({ stderr }) => ({ code: 0, signal: null, err: stderr }), ({ code, signal, stderr }) => ({ code, signal, err: stderr }))
}

/** A directory with data. */
export async function fill (dir: string, passphrase?: string) {
  const store = await openStore({ dir, passphrase, clock: systemClock })
  for (let n = 0; n < RECORDS; n += 50) {
    await store.transact(
      Array.from(
        { length: 50 },
        (_, at) => ({ type: 'put', key: `thing/${store.digest(`a name ${n + at}`)}`, value: { n: n + at, text: 'x'.repeat(200) } })
      )
    )
  }
  await store.record('single', () => ({})).replace({ likes: 'tea' })
  await store.close()
}

/** Whether all of it can be read, found by names that are digested, and nothing of a change is left. */
export async function isWhole (dir: string, passphrase?: string): Promise<boolean> {
  const store = await openStore({ dir, passphrase, clock: systemClock })
  try {
    for (let n = 0; n < RECORDS; n++) if ((await store.get<{ n: number }>(`thing/${store.digest(`a name ${n}`)}`))?.n !== n) return false
    const { likes } = await store.record<{ likes?: string }>('single', () => ({})).get()
    return likes === 'tea' && store.status().repaired === undefined && store.status().damaged === undefined
  } finally {
    await store.close()
  }
}

export interface Change {
  from?: string
  to?: string
}

/** Kills the command at one step after the other: run again it ends, with everything there and the old key of no use. */
export async function killEverywhere (t: Test, { from, to }: Change, isTried: (step: number) => boolean) {
  const dir = t.testdir()
  const env = { ...(from && { LOCAL_AGENT_PASSPHRASE: from }), ...(to && { LOCAL_AGENT_NEW_PASSPHRASE: to }) }
  await fill(`${dir}/first`, from)
  mkdirSync(`${dir}/counted`)
  cpSync(`${dir}/first`, `${dir}/counted`, { recursive: true })
  const { err } = await rotate(`${dir}/counted`, env, 'count')
  const steps = err.split('\n').filter((line) => line.startsWith('step ')).length
  t.ok(steps > 10, `${steps} steps`)
  let before = 0
  for (let step = 0; step < steps; step++) {
    for (const when of ['before', 'after']) {
      if (!isTried(step * 2 + (when === 'after' ? 1 : 0))) continue
      const home = `${dir}/${step}-${when}`
      cpSync(`${dir}/first`, home, { recursive: true })
      const killed = await rotate(home, env, `${step} ${when}`)
      if (killed.signal !== 'SIGKILL') throw new Error(`step ${step} was not reached: ${killed.err}`)
      if (!existsSync(`${home}/replace.json`)) before++
      const again = await rotate(home, env)
      // What was ended already is opened with the new key, and changed once more where that is a file.
      const isDone = again.code === 78
      if (!isDone && again.code !== 0) t.fail(`killed ${when} step ${step}: ${again.err}`)
      t.ok(await isWhole(home, to), `killed ${when} step ${step}`)
      const left = readdirSync(home).filter((name) => /next|replace|data\./.test(name))
      if (left.length > 0) t.fail(`${left} after ${when} step ${step}`)
      if (to !== undefined && existsSync(`${home}/master.key`)) t.fail('the key file is still there')
      // The old key opens nothing any more.
      if (from === undefined) cpSync(`${dir}/first/master.key`, `${home}/master.key`)
      await t.rejects(openStore({ dir: home, passphrase: from, clock: systemClock }), { code: 'ERR_STORE_KEY' })
    }
  }
  return { steps, before }
}
