import { readBackground } from './background.ts'
import { after, afterNumber, Clause, type Command, isPunctuation, type Known } from './clause.ts'
import { CREATE, readCommands, READS, WRITE } from './commands.ts'
import { isPlain } from './paths.ts'
import { tokenise, type Token } from './tokens.ts'

/** A part of a message: a command, or a clause that is no command. */
export type Step = (Command & { kind: 'command' }) | { kind: 'unread', text: string, isRemark?: true }

/** Characters and tokens of a message; a longer message is not read as commands. */
const MAX_LENGTH = 100_000
const MAX_TOKENS = 400
/** The number of separators up to which the next command may reach. */
const LOOKAHEAD = 7
/** Stands for any file and folder named before, while only the ends of clauses are searched. */
const ANY: Known = { file: 'it', folder: 'there' }

/** Patterns (see `after`) between commands. A soft one separates only what is a command on both sides. */
const SEPARATORS = [
  ['line', '\n'],
  ['semicolon', '; and? then? ,?'],
  ['then', ',? and? then|afterwards|subsequently|->|=>|→ ,|:?'],
  ['then', ',? and? after that|which ,?'],
  ['then', ',? followed by'],
  ['sentence', '.|?|!'],
  ['soft', ', and? also|finally|lastly|next|please?'],
  ['soft', 'and|&|plus|before|next also|finally|please?']
] as const
interface Separator {
  kind: typeof SEPARATORS[number][0]
  at: number
  end: number
}

const WRITES = new Set(`${WRITE}|${CREATE}`.split('|'))
const RUNS = /^(?:run|execute|\$)$/
const REPEATED = /^(?:read|open|show|cat|write|save|put|create|delete|remove|rm|erase|run|execute|list|fetch|download)$/
/** A condition or a negation: the command behind it must not simply be carried out. */
const CONDITION = /^(?:if|when|whenever|unless|once|should|only|until|before|after)$/
const NEGATION = /^(?:not|don't|never|mustn't|without)$/

/** Reads a message as steps, in their order; how often they are wanted is left out. */
export function readSteps (wish: string): Step[] {
  const message = readBackground(wish)?.goal ?? wish
  const tokens = message.length > MAX_LENGTH ? undefined : tokenise(message)
  if (tokens === undefined || tokens.length > MAX_TOKENS) return [{ kind: 'unread', text: message }]
  const steps: Step[] = []
  let known: Known = {}
  let verb: Token | undefined
  for (const part of split(message, tokens)) {
    const clause = new Clause(message, part, known)
    const commands = readCommands(clause) ?? readElliptic(clause, verb)
    if (!commands) steps.push({ kind: 'unread', text: message.slice(part[0].start, part.at(-1)!.end).trim() })
    for (const command of commands ?? []) {
      steps.push({ kind: 'command', ...command })
      known = afterwards(command, known)
    }
    if (commands?.length) verb = verbOf(clause) ?? verb
  }
  return steps
}

/** Splits the tokens where one command ends and the next begins. */
function split (message: string, tokens: Token[]): Token[][] {
  const separators = separatorsIn(tokens)
  const parts: Token[][] = []
  let start = 0
  let verb: Token | undefined
  for (const [index, separator] of separators.entries()) {
    const left = new Clause(message, tokens.slice(start, separator.at), ANY)
    if (left.tokens.length === 0) continue
    const leftVerb = verbOf(left) ?? verb
    const isNextRead = () =>
      [...separators.slice(index + 1, index + LOOKAHEAD).map(({ at }) => at), tokens.length].some((end) => {
        const right = new Clause(message, tokens.slice(separator.end, end), ANY)
        return right.tokens.length > 0 && (readCommands(right) ?? readElliptic(right, leftVerb)) !== undefined
      })
    if (!separates(separator, left, isNextRead)) continue
    parts.push(tokens.slice(start, separator.at))
    verb = leftVerb
    start = separator.end
  }
  return [...parts, tokens.slice(start)].filter((part) => !part.every(isPunctuation))
}

function separatorsIn (tokens: Token[]): Separator[] {
  const found: Separator[] = []
  for (let at = 0; at < tokens.length; at = Math.max(at + 1, found.at(-1)?.end ?? 0)) {
    const separator = SEPARATORS.map(([kind, pattern]) => ({ kind, at, end: after(pattern, tokens, at) }))
      .find(({ kind, end }) => end !== undefined && (kind !== 'sentence' || tokens[at].kind === 'mark'))
    const end = separator?.end ?? afterNumber(tokens, at)
    if (end !== undefined) found.push({ kind: separator?.kind ?? 'soft', at, end })
  }
  return found
}

function separates ({ kind }: Separator, left: Clause, isNextRead: () => boolean): boolean {
  const { tokens, tokens: [{ word }] } = left
  const isRead = readCommands(left) !== undefined
  // The content to write may hold any separator, so the clause goes on until it is a complete command.
  if (WRITES.has(word) && !isRead) return false
  if (kind === 'soft') return isRead && isNextRead()
  if (kind === 'sentence') return isRead || isNextRead()
  // Unquoted lines to write and an unquoted shell command keep their separators.
  const isBlock = tokens.some((token, at) => token.word === ':' && tokens[at + 1]?.kind === 'line')
  if (kind === 'line') return !(WRITES.has(word) && isBlock) || isNextRead()
  if (kind === 'semicolon' && RUNS.test(word) && !tokens.some((token) => token.kind === 'quote')) return isNextRead()
  return isRead || !(CONDITION.test(word) || tokens.some((token) => NEGATION.test(token.word)))
}

/** Reads a clause that has only an argument with the verb of the clause before, as in "read a.txt, then b.txt". */
function readElliptic (clause: Clause, verb: Token | undefined): Command[] | undefined {
  const [first] = clause.tokens
  if (!verb || !first || !(first.kind === 'quote' || (isPlain(first) && !RUNS.test(verb.word)))) return undefined
  return readCommands(new Clause(clause.message, [verb, ...clause.tokens], clause.known))
}

const verbOf = ({ tokens: [first] }: Clause) => first !== undefined && REPEATED.test(first.word) ? first : undefined

/** Returns what "it" and "there" refer to after a command. After a web page, "it" is no file. */
function afterwards ({ toolName, input: { path } }: Command, known: Known): Known {
  const read = READS.get(toolName)
  if (read === 'elsewhere') return { folder: known.folder }
  const isRead = read === 'file'
  if (typeof path !== 'string') return { ...known, isRead }
  return { ...known, isRead, ...read === 'folder' ? { folder: path } : { file: path } }
}
