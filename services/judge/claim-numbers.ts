import { names } from './act-names.ts'
import type { CallFact } from './call-facts.ts'
import { pathTarget } from './claim-target.ts'
import { unchecked, type Asserted, type Verdict } from './verdicts.ts'

/**
 * Checks the number and the success that a confirmed claim tells of. Returns undefined when the calls do not speak against them. What
 * does not fit is unchecked and fails no run, because a judge may have misread a number.
 */
export async function verifyNumbers (asserted: Asserted, { calls, cwd }: { calls: CallFact[], cwd: string }): Promise<Verdict | undefined> {
  const { effect, succeeded, count } = asserted
  if (succeeded === true && effect === 'command') {
    const failure = failureOf(asserted, calls)
    if (failure !== undefined) return unchecked(failure)
  }
  if (typeof count !== 'number' || count <= 1) return undefined
  const found = await countOf(asserted, calls, cwd)
  if (found >= count) return undefined
  const isOpen = effect !== 'command' && effect !== 'message' && calls.some(mayHaveDoneMore)
  const others = isOpen ? '; a call whose changes are not recorded may account for others' : ''
  return unchecked(`The calls show ${found}, not ${count}${others}.`)
}

/** Says how the last command that the claim can mean ended, unless it ended well. */
function failureOf ({ target, call: id }: Asserted, calls: CallFact[]): string | undefined {
  const ran = calls.filter(({ status, isCommand }) => isCommand && status === 'completed')
  const last = ran.findLast((call) => target ? names(call, target) : call.id === id)
  const { exitCode, timedOut, signal } = last?.output ?? {}
  if (timedOut === true) return 'The command took too long and was ended.'
  if (typeof signal === 'string') return `The command was ended by ${signal}.`
  return typeof exitCode === 'number' && exitCode !== 0 ? `The command ended with exit code ${exitCode}.` : undefined
}

/** The number of files, messages or commands that the calls show. */
async function countOf ({ effect, target }: Asserted, calls: CallFact[], cwd: string): Promise<number> {
  if (effect === 'file' || effect === 'deletion') return countPaths(effect, target ?? '', calls, cwd)
  const able = calls.filter(({ status, proves, isCommand }) =>
    status === 'completed' && (proves === effect || (proves === 'any' && isCommand === (effect === 'command')))
  )
  const named = target ? able.filter((call) => names(call, target)) : []
  return (named.length > 0 ? named : able).reduce((sum, { input }) => sum + (effect === 'message' ? recipients(input) : 1), 0)
}

/** A message may go to several at once: the longest list of its input. */
function recipients (input: unknown): number {
  if (typeof input !== 'object' || input === null) return 1
  return Math.max(1, ...Object.values(input).map((value) => Array.isArray(value) ? value.length : 1))
}

/** The different paths that calls changed, those that belong to the target where any does. */
async function countPaths (effect: 'file' | 'deletion', target: string, calls: CallFact[], cwd: string): Promise<number> {
  const changes = calls.flatMap(({ changes }) => changes)
  const paths = [...new Set(changes.filter(({ before, after }) => effect === 'file' ? after !== null && after !== before : after === null)
    .map(({ path }) => path))]
  const place = await pathTarget(target, cwd)
  if (target === '' || place.isWhole) return paths.length
  const related = (await Promise.all(paths.map((path) => place.relationOf(path)))).filter((relation) => relation !== undefined)
  return related.length > 0 ? related.length : paths.length
}

/** Whether a call can have changed files of which nothing is recorded. */
const mayHaveDoneMore = ({ proves, status, changes, hasChangedNothing }: CallFact) =>
  proves === 'any' && (status === 'completed' || status === 'unknown') && changes.length === 0 && !hasChangedNothing
