import { BULLET, type Command, readCommands, REPEATED, RUNS, withoutPoliteness, WRITES } from './commands.ts'
import { type Excerpt, readMessage, wordOf } from './excerpt.ts'
import type { Known } from './names.ts'
import { readBackground } from './background.ts'

/** A part of a message: a command, or a clause that is no command. */
export type Step = (Command & { kind: 'command' }) | { kind: 'unread', text: string, isRemark?: true }

/** The most characters and words of a message that is read as commands. */
const MAX_LENGTH = 100_000
const MAX_WORDS = 400
/** The number of following separators at which the next command can end. */
const LOOKAHEAD = 7
/** The placeholder for any file and folder while only the ends of clauses are searched. */
const ANY: Known = { file: 'it', folder: 'there' }

/** The separators of commands. A soft separator counts only if there are commands on both sides. */
const SEPARATORS = {
  line: '\n',
  semicolon: ';(?:\\s+and\\b)?(?:\\s+then\\b)?',
  then: `,?\\s?(?:\\band )?(?:${wordOf('then|afterwards|subsequently|after (?:that|which)|followed by')}|->|=>|→)\\s*[,:]?`,
  sentence: '[.?!](?=[\\s.,;?!]|$)',
  soft: `,(?:\\s+${wordOf('and')})?|${wordOf('and|plus|before|next|&')}|(?<!\\S)${BULLET}`
}
type Kind = keyof typeof SEPARATORS
const SEPARATOR = new RegExp(Object.entries(SEPARATORS).map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'g')

/** A condition or a negation: the command behind it must not simply be executed. */
const CAUTION = /^(?:if|when|whenever|unless|once|should|only|until|before|after)\b|(?<!\S)(?:not|don't|never|mustn't|without)(?!\S)/

/** The result of parsing one clause. */
interface Clause {
  /** The clause without polite words. */
  text: Excerpt
  commands?: Command[]
  /** The verb that the next clause can omit, as in "read a.txt, then b.txt". */
  verb?: Excerpt
}

function readClause (whole: Excerpt, known: Known, verb?: Excerpt): Clause {
  const text = withoutPoliteness(whole)
  const first = text.part(0, /\s|$/.exec(text.mask)!.index)
  const commands = readCommands(whole, known) ?? readElliptic(text, known, verb)
  return { text, commands, verb: REPEATED.test(first.mask) ? first : verb }
}

/** Reads a clause that has only an argument, with the verb of the previous clause. */
function readElliptic (text: Excerpt, known: Known, verb?: Excerpt): Command[] | undefined {
  const isArgument = /^\uE000/.test(text.mask) || (/^\uE001/.test(text.mask) && verb && !RUNS.test(verb.mask))
  if (!verb || !isArgument) return undefined
  return readCommands(readMessage(`${verb.written} ${text.written}`), known)
}

/** Parses a message into steps, in their order. Words about the time of background work are left out. */
export function readSteps (wish: string, background = readBackground(wish)): Step[] {
  const goal = background?.goal ?? wish
  if (goal.length > MAX_LENGTH) return [{ kind: 'unread', text: goal }]
  const message = readMessage(goal)
  if ((message.mask.match(/[^\s,.;:!?]+|[,.;:!?]/g)?.length ?? 0) > MAX_WORDS) return [{ kind: 'unread', text: goal }]
  const steps: Step[] = []
  let known: Known = {}
  let verb: Excerpt | undefined
  for (const part of split(message)) {
    const { commands, verb: next } = readClause(part, known, verb)
    if (!commands) steps.push({ kind: 'unread', text: part.written })
    for (const command of commands ?? []) {
      steps.push({ kind: 'command', ...command })
      known = afterwards(command, known)
    }
    if (commands?.length) verb = next
  }
  return steps
}

/** Splits a message where one command ends and the next begins. */
function split (message: Excerpt): Excerpt[] {
  const separators = [...message.mask.matchAll(SEPARATOR)].map(({ 0: { length }, index, groups }) => ({
    kind: Object.keys(SEPARATORS).find((kind) => groups![kind] !== undefined) as Kind,
    start: index,
    end: index + length
  }))
  const ends = [...separators.map(({ start }) => start), message.mask.length]
  const parts: Excerpt[] = []
  let start = 0
  let verb: Excerpt | undefined
  for (const [nth, { kind, start: end, end: next }] of separators.entries()) {
    const left = readClause(message.part(start, end), ANY, verb)
    if (left.text.mask === '') continue
    const isNextRead = () =>
      ends.slice(nth + 1, nth + 1 + LOOKAHEAD).some((to) => {
        const right = to > next ? readClause(message.part(next, to), ANY, left.verb) : undefined
        return right !== undefined && right.text.mask !== '' && right.commands !== undefined
      })
    if (!separates(kind, left, isNextRead)) continue
    parts.push(message.part(start, end))
    verb = left.verb
    start = next
  }
  return [...parts, message.part(start)].filter(({ mask }) => /[^\s,.;:!?]/.test(mask))
}

function separates (kind: Kind, { text: { mask }, commands }: Clause, isNextRead: () => boolean): boolean {
  const [verb] = mask.split(/\s/, 1)
  // The content to write can contain any separator, so the clause continues until it is a complete command.
  if (WRITES.test(verb) && !commands) return false
  if (kind === 'soft') return commands !== undefined && isNextRead()
  if (kind === 'sentence') return commands !== undefined || isNextRead()
  // Unquoted lines to write and an unquoted shell command keep their separators.
  if (kind === 'line' && WRITES.test(verb) && /:\s*\n/.test(mask)) return isNextRead()
  if (kind === 'semicolon' && RUNS.test(verb) && !mask.includes('\uE000')) return isNextRead()
  return kind === 'line' || commands !== undefined || !CAUTION.test(mask)
}

/** Tools whose commands change nothing, with the thing that they read: "it" and "there" refer only to files and folders. */
const READS: Record<string, 'file' | 'folder' | 'machine' | 'elsewhere'> = {
  readFile: 'file',
  listDirectory: 'folder',
  systemInfo: 'machine',
  fetchUrl: 'elsewhere',
  webSearch: 'elsewhere',
  searchFiles: 'elsewhere',
  screenshot: 'elsewhere'
}

/** True if a command of this grammar changes nothing. */
export const isLook = ({ toolName }: Command): boolean => Object.hasOwn(READS, toolName)

/** Returns the things that "it" and "there" refer to after a command. After a web page, "it" is not a file. */
function afterwards (command: Command, known: Known): Known {
  const read = isLook(command) ? READS[command.toolName] : undefined
  const { path } = command.input
  if (read === 'elsewhere') return { folder: known.folder }
  const isRead = read === 'file'
  if (typeof path !== 'string') return { ...known, isRead }
  return { ...known, isRead, ...read === 'folder' ? { folder: path } : { file: path } }
}
