import { MARK, type Marked } from './quotes.ts'
import { readPath } from './paths.ts'

const RUNS =
  /^(?:run|execute|exec|(?:use|open) (?:the|a) (?:shell|terminal|command line) (?:to run|to execute|and run|and execute|for)|in (?:the|a) (?:shell|terminal),? (?:run|execute|type))\b\s*:?\s*|^\$\s+/i
const STARTS = new RegExp(
  `^(?:start|launch|invoke|issue|call|perform|do|try)\\s+(?:(?:the|this)\\s+)?(?:(?:shell|terminal|bash)\\s+)?(?:command\\s*:?\\s*)?(?=${MARK}[.!?]*$)|^(?:start|launch|invoke|issue)\\s+(?:the|this)\\s+(?:(?:shell|terminal|bash)\\s+)?command\\s*:?\\s*`,
  'i'
)
const LABEL = new RegExp(
  `^(?:(?:the|this|a|following|shell|terminal|bash|console)\\s+)*(?:commands?|script|program|command line|one-liner)\\s*:?\\s+(?!-)|^(?:the following|following|this|these)(?:\\s*:\\s*|\\s+(?=${MARK}))|^(?:in (?:the|a) (?:shell|terminal|console)\\s*[:,]?\\s+)`,
  'i'
)
const SUFFIX =
  '(?:\\s+(?:in|on|using|with|through|from) (?:the|a|my) (?:shell|terminal|command line|console|cli)|\\s+(?:as a )?(?:shell |terminal )?command|\\s+again)?'
const QUOTED = new RegExp(`^(${MARK})${SUFFIX}[\\s.,!?;]*$`, 'i')
const SEVERAL = new RegExp(`^${MARK}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+(?:then\\s+)?)${MARK})+[\\s.!?]*$`, 'i')
const QUOTED_IN = new RegExp(`^(${MARK})\\s+(?:in|inside|from|within)\\s+([^]+)$`, 'i')
const NO_COMMAND =
  /^(?:the|an?|my|our|your|it|them|that|this|these|some|all|every|both|to|for|in|as|away|out)\s|^(?:it|that|this|them|and|or)?[.!?]*$/i

export interface Run {
  command: string
  cwd?: string
}

/** Reads a clause that runs shell commands. A quoted command is taken literally. */
export function readRun (marked: Marked, text: string): Run[] | undefined {
  const verb = RUNS.exec(text) ?? STARTS.exec(text)
  if (!verb) return undefined
  const rest = text.slice(verb[0].length).replace(LABEL, '').trim()
  const quoted = QUOTED.exec(rest)
  if (quoted) return runs([marked.plain(quoted[1])])
  if (SEVERAL.test(rest)) return runs([...rest.matchAll(new RegExp(MARK, 'g'))].map(([mark]) => marked.plain(mark)))
  const within = QUOTED_IN.exec(rest)
  const folder = within && readPath(marked, within[2])
  if (folder) return runs([marked.plain(within[1])], folder.path === '.' ? undefined : folder.path)
  if (NO_COMMAND.test(rest)) return undefined
  // A full stop after a word ends the sentence and is removed; a separate one belongs to the command.
  return runs([marked.raw(rest).replace(new RegExp(`${SUFFIX}$`, 'i'), '').replace(/(?<=[\p{L}\p{N}_)])[.!?]$/u, '').trim()])
}

/** Whether a clause runs an unquoted command, which may contain semicolons. */
export function runsBare (text: string): boolean {
  const verb = RUNS.exec(text)
  return verb !== null && !new RegExp(MARK).test(text.slice(verb[0].length).replace(LABEL, '').charAt(0))
}

const runs = (commands: string[], cwd?: string): Run[] | undefined =>
  commands.every((command) => command.trim() !== '')
    ? commands.map((command) => cwd === undefined ? { command } : { command, cwd })
    : undefined
