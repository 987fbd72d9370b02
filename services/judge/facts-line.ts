import { PHASE_TOOL } from '../contracts/model-texts.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { isAnswerCall } from '../runs/index.ts'
import { callFacts, type CallFact, type FindTool } from './call-facts.ts'

/** The most commands that the line names, and the most characters of each. */
const MOST_NAMED = 5
const COMMAND_SHOWN = 40
// eslint-disable-next-line no-control-regex
const BLANKS = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu

/**
 * Returns one line about what happened in a run, computed from its recorded calls alone: calls by effect, files,
 * commands with their exit codes, and external calls. Each count is present, even if it is 0, except that of the unanswered calls: calls
 * that did not begin, because a person or the application has not answered.
 */
export function factsLine (events: readonly RunEvent[], find: FindTool, cwd: string): string {
  const calls = callFacts(events.filter((event) => !isAnswerCall(event)), find, cwd).filter(({ tool }) => tool !== PHASE_TOOL)
  const asked = askedIn(events)
  const unanswered = calls.filter(({ id, status }) => status === 'unknown' && asked.has(id))
  const begun = calls.filter((call) => !unanswered.includes(call))
  const ofKind = (kind: string) => calls.filter((call) => kindOf(call) === kind).length
  const withStatus = (status: CallFact['status']) => begun.filter((call) => call.status === status).length
  const { made, changed, deleted } = filesOf(begun)
  const commands = begun.filter(({ isCommand, status }) => isCommand && status !== 'denied')
  const unseen = commands.filter(({ status, changes, hasChangedNothing }) =>
    status !== 'error' && changes.length === 0 && hasChangedNothing !== true).length
  return [
    `${counted(calls.length, 'call')}: ${ofKind('read')} read, ${ofKind('write')} write, ${ofKind('command')} command, ` +
    `${ofKind('external')} external; ${withStatus('error')} failed, ${withStatus('denied')} denied, ${withStatus('unknown')} unknown${
      unanswered.length > 0 ? `, ${unanswered.length} unanswered` : ''
    }`,
    `files: ${made} made, ${changed} changed, ${deleted} deleted${
      unseen > 0 ? ` (what ${counted(unseen, 'command')} did to files is not recorded)` : ''
    }`,
    `commands: ${commands.length}${commands.length > 0 ? ` (${namedCommands(commands)})` : ''}`,
    `external calls: ${begun.filter((call) => kindOf(call) === 'external' && hasBegun(call)).length}`
  ].join(' · ')
}

/** Returns the ids of the calls about which a person or the application was asked, and whose tools have not started since. */
function askedIn (events: readonly RunEvent[]): Set<string> {
  const asked = new Set<string>()
  for (const event of events) {
    if (event.type === 'approval-request' || event.type === 'tool-call-request') asked.add(event.toolCallId)
    if (event.type === 'question-request' && event.toolCallId !== undefined && !event.live) asked.add(event.toolCallId)
    if (event.type === 'tool-intent') asked.delete(event.toolCallId)
  }
  return asked
}

/** Returns the kind under which a call is counted. A tool that no longer exists belonged to a tool server or to the application. */
function kindOf ({ isCommand, effect, proves }: CallFact): 'read' | 'write' | 'command' | 'external' {
  if (isCommand) return 'command'
  return effect ?? (proves === undefined ? 'read' : 'external')
}

const hasBegun = ({ status }: CallFact) => status === 'completed' || status === 'unknown'

/** Counts the paths that were made, changed and deleted, by the state before the first change and after the last change of each path. */
function filesOf (calls: CallFact[]): { made: number, changed: number, deleted: number } {
  const paths = new Map<string, { before: string | null, after: string | null }>()
  for (const { path, before, after } of calls.flatMap(({ changes }) => changes)) {
    paths.set(path, { before: (paths.get(path) ?? { before }).before, after })
  }
  const ends = [...paths.values()]
  return {
    made: ends.filter(({ before, after }) => before === null && after !== null).length,
    changed: ends.filter(({ before, after }) => before !== null && after !== null && before !== after).length,
    deleted: ends.filter(({ before, after }) => before !== null && after === null).length
  }
}

function namedCommands (commands: CallFact[]): string {
  const named = commands.slice(-MOST_NAMED).map((call) => `${commandOf(call)}: ${endOf(call)}`)
  const more = commands.length - named.length
  return `${more > 0 ? `${more} more, then ` : ''}${named.join('; ')}`
}

function commandOf ({ input, tool, target }: CallFact): string {
  const given = typeof input === 'object' && input !== null && 'command' in input ? input.command : target
  const text = (typeof given === 'string' ? given : tool).toWellFormed().replace(BLANKS, ' ').trim()
  return text.length > COMMAND_SHOWN ? `${text.slice(0, COMMAND_SHOWN).toWellFormed()}…` : text
}

function endOf ({ status, output = {} }: CallFact): string {
  if (status === 'error') return 'failed'
  if (status === 'unknown') return 'outcome unknown'
  if (output.timedOut === true) return 'took too long'
  if (typeof output.signal === 'string') return `ended by ${output.signal}`
  return typeof output.exitCode === 'number' ? `exit code ${output.exitCode}` : 'no exit code'
}

const counted = (n: number, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`
