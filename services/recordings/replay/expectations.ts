import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import type { Run } from '../../../schemas/runs.ts'
import { Usage } from '../../lib/usage-error.ts'
import type { ExpectLine } from '../recording.ts'
import type { Difference } from './differences.ts'

/** The time limit for matching a pattern; milliseconds. */
const MATCH_MS = 2_000

/**
 * Returns whether a text matches a regular expression from a recording, which can come from anybody. Throws
 * Usage if the pattern is invalid or takes longer than MATCH_MS.
 */
function matches (pattern: string, flags: string, text: string): boolean {
  const refuse = (reason: string) => new Usage(`The pattern ${JSON.stringify(pattern)} of an "expect" line cannot be used: ${reason}.`)
  try {
    // Only code in a `vm` context can be stopped while it matches.
    return runInNewContext('new RegExp(pattern, flags).test(text)', { pattern, flags, text }, { timeout: MATCH_MS }) as boolean
  } catch (error) {
    const { code, message } = error as { code?: string, message: string }
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw refuse(message)
    throw refuse(`it took longer than ${MATCH_MS / 1000} s. Write one without a repetition inside of a repetition`)
  }
}

/**
 * Returns the expectations that a finished run does not meet. `asked`: the names of tools for whose calls a
 * person was asked. Throws Usage for an invalid pattern.
 */
export async function checkExpectations (
  expected: readonly ExpectLine[],
  { run, asked, cwd, step }: { run: Run, asked: ReadonlySet<string>, cwd: string, step: number }
): Promise<Difference[]> {
  const problems: Difference[] = []
  const fail = (what: string, more: Partial<Difference> = {}) => void problems.push({ step, what, ...more })
  for (const { calls = [], approvals, files = {}, answer } of expected) {
    const done = new Set(run.toolCalls.flatMap(({ toolName, status }) => status === 'completed' ? [toolName] : []))
    for (const name of calls) if (!done.has(name)) fail(`No call of ${name} succeeded.`)
    if (approvals !== undefined) {
      const [wanted, now] = [new Set(approvals), asked].map((names) => [...names].sort().join(', ') || 'none')
      if (wanted !== now) fail('Other tools asked for an approval than expected.', { recorded: wanted, now })
    }
    for (const [path, pattern] of Object.entries(files)) {
      const text = await readFile(join(cwd, path), 'utf8').catch(() => undefined)
      if (pattern === null && text !== undefined) fail(`There is a file ${path}.`)
      if (pattern !== null && text === undefined) fail(`There is no file ${path}.`)
      if (pattern !== null && text !== undefined && !matches(pattern, 'm', text)) {
        fail(`The file ${path} does not match ${pattern}.`, { now: text.slice(0, 400) })
      }
    }
    if (answer !== undefined && !matches(answer, 'im', run.output ?? '')) {
      fail(`The answer does not match ${answer}.`, { now: (run.output ?? '').slice(0, 400) })
    }
  }
  return problems
}
