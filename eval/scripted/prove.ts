import { rmSync } from 'node:fs'
import { tryGoal, type Trial } from '../trial.ts'
import type { Goal } from '../goal.ts'
import { code } from './code.ts'
import { conversation } from './conversation.ts'
import { data } from './data.ts'
import { files } from './files.ts'
import { limits } from './limits.ts'
import { lazy, startScripted, type Script, type Scripts } from './script.ts'
import { tools } from './tools.ts'

export const SCRIPTS: Record<string, Scripts> = { ...files, ...code, ...data, ...limits, ...conversation, ...tools }

/** What the scripts of a goal prove about its checks. */
interface Proof {
  goal: string
  /** Each script with the checks that it failed. */
  scripts: Array<{ name: string, failed: string[] }>
  /** The reasons why the checks are not reliable: a good script that fails, a bad one that passes, or a check that no script fails. */
  faults: string[]
}

/** The time limit of a trial, in milliseconds. A scripted model answers at once. */
const TIME_MS = 60_000

/** Tries a goal with a model that follows a script; `config` is added to the configuration of the service. */
export async function tryScript (goal: Goal, script: Script, config?: Record<string, unknown>): Promise<Trial> {
  const gateway = await startScripted(goal, script)
  try {
    return await tryGoal(goal, {
      ...{ model: 'scripted/model', config },
      env: { AI_GATEWAY_API_KEY: 'scripted', AI_GATEWAY_BASE_URL: gateway.url },
      timeMs: TIME_MS
    })
  } finally {
    await gateway.close()
  }
}

/** Tries a goal with all of its scripts. Each check must hold for the good script and fail for at least one bad script. */
export async function prove (goal: Goal, config?: Record<string, unknown>): Promise<Proof> {
  const { good, bad } = SCRIPTS[goal.name]
  const reached = await tryScript(goal, good, config)
  const faults = reached.problems.map(({ check, found }) => `the good script fails: ${check}; ${found} (${reached.folder})`)
  const scripts = [{ name: 'good', failed: reached.problems.map(({ check }) => check) }]
  for (const [name, script] of Object.entries({ lazy: lazy(goal), ...bad })) {
    const { passed, problems, folder } = await tryScript(goal, script, config)
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    if (passed) faults.push(`the bad script "${name}" passes`)
    scripts.push({ name, failed: problems.map(({ check }) => check) })
  }
  const failed = scripts.slice(1).flatMap((script) => script.failed)
  for (const { says } of goal.checks) if (!failed.includes(says)) faults.push(`no bad script fails: ${says}`)
  return { goal: goal.name, scripts, faults }
}

/** Returns a proof as text. */
export const proofOf = ({ goal, scripts, faults }: Proof): string =>
  [
    `${faults.length === 0 ? 'proven' : 'FAULTY'}  ${goal}`,
    ...scripts.map(({ name, failed }) => `        ${name}: ${failed.length === 0 ? 'passes' : `fails, as ${failed.join('; ')}`}`),
    ...faults.map((fault) => `        ${fault}`)
  ].join('\n')
