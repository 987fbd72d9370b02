import { deepStrictEqual, ok } from 'node:assert/strict'
import { GOALS } from '../../eval/goals/index.ts'
import { tryGoal } from '../../eval/trial.ts'
import { configOfFile } from './engine.ts'

/** One goal of files, of limits and of conversations; `npm run eval -- --small` tries all thirty. */
const TRIED = ['keep-crlf', 'no-means-no', 'remember']
const LIMIT_MS = 10 * 60_000

/** Goals of users with the file as a model. A model as small reaches none; every run must end, and say something or why not. */
export async function goalsJob (): Promise<void> {
  const { model, ...config } = configOfFile()
  const { PATH } = process.env
  for (const goal of GOALS.filter(({ name }) => TRIED.includes(name))) {
    const { passed, ends, faults, problems, inputTokens, ms } = await tryGoal(goal, { model, config, env: { PATH }, timeMs: LIMIT_MS })
    const result = passed ? 'reached' : `not reached (${problems[0].check})`
    console.log(`${goal.name}: ${result}, ${ends.join('; ')}, ${inputTokens} tokens, ${Math.round(ms)} ms`)
    deepStrictEqual(faults, [])
    ok(ends.length > 0 && ends.every((end) => !end.startsWith('running')), 'every run ended')
  }
}
