import type { TaskToolCall } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import facts from '../../lib/tool-facts.json'
import { isRecord } from './values.tsx'

/** The outcome of a call: a state of `Status`, and a reason if the state alone is not enough. */
interface Outcome {
  state: 'completed' | 'failed' | 'running' | 'held' | 'waiting' | 'notRun' | 'notAnswered' | 'unknown'
  note?: string
}

/**
 * The state of the run that a call belongs to. A run is `held` if its open requests are known and none is about this call, and `waiting` as
 * long as they are not known.
 */
export type RunState = 'live' | 'held' | 'waiting' | 'over'

/** The service's error texts for a call whose effect is unknown, and for a call that did not begin. */
const UNKNOWN = /^Outcome unknown: |What it did by then is not known: check before you repeat it\.$/
const NOT_BEGUN = /^Not carried out: /
/** The beginning of a command's output, for lists that hold only the beginning. */
const CUT_EXIT = /^\{"exitCode":(-?\d+|null)\b/

/** Returns the outcome of a recorded call. */
export function outcomeOf ({ toolName, status, output, error = '', begun }: TaskToolCall, run: RunState): Outcome {
  switch (status) {
    case 'completed': {
      const failure = failureOf(output)
      return failure === undefined ? { state: 'completed' } : { state: 'failed', note: failure }
    }
    case 'error':
      return { state: UNKNOWN.test(error) ? 'unknown' : NOT_BEGUN.test(error) ? 'notRun' : 'failed' }
    case 'denied':
      return { state: 'notRun', note: say('run.denied') }
    case 'pending':
      if (run !== 'over') return { state: begun || run === 'live' ? 'running' : run }
      if (begun) return { state: 'unknown' }
      return { state: facts.asking.includes(toolName) ? 'notAnswered' : 'notRun' }
  }
}

/** Returns the reason why a call with an output failed; undefined if it succeeded. A failed command has an output, too. */
function failureOf (output: unknown): string | undefined {
  if (typeof output === 'string') {
    const [, code] = CUT_EXIT.exec(output) ?? []
    return code === undefined || code === '0' ? undefined : sayExit(code)
  }
  if (!isRecord(output)) return undefined
  const { exitCode, signal, timedOut, isError } = output
  if (timedOut === true) return say('run.timedOut')
  if (typeof signal === 'string') return say('run.endedBy', { signal })
  if (typeof exitCode === 'number') return exitCode === 0 ? undefined : sayExit(String(exitCode))
  return isError === true ? say('run.toolFailed') : undefined
}

const sayExit = (code: string) => code === 'null' ? '' : say('run.exitCode', { code })
