import { afterwards, beginsWriting, readCommands, type Command } from './commands.ts'
import type { Known } from './paths.ts'
import { isChatter, isGuarded, stripped } from './phrases.ts'
import { MARK, markQuotes, type Marked } from './quotes.ts'
import { runsBare } from './running.ts'

/** A part of a message: a command, or a clause that is no command. */
export type Step = (Command & { kind: 'command' }) | { kind: 'unread', text: string, isRemark?: true }

type Break = 'line' | 'semicolon' | 'then' | 'sentence' | 'soft'
/** Stands for any file and folder named before, while only the boundaries of clauses are searched. */
const ANY: Known = { file: 'it', folder: 'there' }

interface Separator {
  kind: Break
  start: number
  end: number
}

/**
 * Characters of a message, and of the rest without its quotations; a longer message is not read as commands. The patterns
 * backtrack over blanks, which took minutes for a page of text and blocked the event loop.
 */
const LONGEST = 20_000
const LONGEST_UNQUOTED = 1_000
const GAP = /[\s,]{40}/
const QUOTES = /["'`\u2018-\u201E\u00AB\u00BB\u2039\u203A]/g
const MOST_QUOTES = 400
const SEPARATORS = new RegExp(
  [
    '(?<line>\\s*\\n\\s*)',
    '(?<semicolon>\\s*;(?:\\s+|(?=[a-z]{2,}\\s))(?:and\\s+)?(?:then\\b[\\s,:]*)?)',
    '(?<then>\\s*,?\\s+(?:and\\s+)?(?:then|afterwards|after that|after which|followed by|subsequently)\\b[\\s,:]*|\\s*(?:->|=>|→)\\s*)',
    '(?<sentence>(?<!(?:^|\\s)\\d{1,3})[.!?]+\\s+(?!then\\b(?! ))|(?<=\\uE001)[.!?]+\\s+)',
    '(?<soft>\\s*,\\s+(?:and\\s+)?(?:(?:also|finally|lastly|next|please)\\s+)?|\\s+(?:and|&|plus|as well as|before|next)\\s+(?:(?:also|finally|lastly|next|please)\\s+)?|\\s+\\(?\\d{1,2}[.)]\\s+)'
  ].join('|'),
  'giu'
)

/** Reads a message as steps, in their order. A message beyond the limits is one unread step. */
export function readSteps (message: string): Step[] {
  const unread: Step[] = [{ kind: 'unread', text: message }]
  if (message.length > LONGEST || (message.match(QUOTES)?.length ?? 0) > MOST_QUOTES) return unread
  const marked = markQuotes(message)
  if (marked.text.length > LONGEST_UNQUOTED || GAP.test(marked.text)) return unread
  const steps: Step[] = []
  let known: Known = {}
  let verb = ''
  for (const clause of clauses(marked)) {
    const commands = readCommands(marked, clause, known) ?? elliptic(marked, verb, clause, known)
    if (!commands) steps.push({ kind: 'unread', text: marked.raw(clause).trim() })
    for (const command of commands ?? []) {
      // "Read a.txt and show me what it says" reads the file once.
      const before = steps.at(-1)
      if (isChatter(clause) && before?.kind === 'command' && before.toolName === 'readFile' && before.input.path === command.input.path) {
        continue
      }
      steps.push({ kind: 'command', ...command })
      known = afterwards(command, known)
    }
    if (commands?.length) verb = verbOf(clause) ?? verb
  }
  return steps
}

/** Splits the message where one command ends and the next begins. */
function clauses (marked: Marked): string[] {
  const { text } = marked
  const separators: Separator[] = [...text.matchAll(SEPARATORS)].map((found) => ({
    kind: Object.entries(found.groups!).find(([, value]) => value !== undefined)![0] as Break,
    start: found.index,
    end: found.index + found[0].length
  }))
  const reads = (clause: string) => readCommands(marked, clause, ANY) !== undefined
  const found: string[] = []
  let start = 0
  let verb = ''
  separators.forEach((separator, index) => {
    if (separator.start < start) return
    const left = text.slice(start, separator.start)
    const right = text.slice(separator.end)
    if (!left.trim() || !right.trim()) return
    const ends = [...separators.slice(index + 1, index + 7).map((next) => next.start), text.length]
    const begins = () =>
      ends.some((end) => {
        const clause = text.slice(separator.end, end)
        return clause.trim() !== '' && (reads(clause) || elliptic(marked, verbOf(left) ?? verb, clause, ANY) !== undefined)
      })
    if (!splits(separator.kind, left, reads(left), begins)) return
    found.push(left)
    verb = verbOf(left) ?? verb
    start = separator.end
  })
  found.push(text.slice(start))
  return found.filter((clause) => clause.trim() !== '')
}

function splits (kind: Break, left: string, leftReads: boolean, rightBegins: () => boolean): boolean {
  // The content to write may contain any separator, so the clause continues until it is a complete command.
  const open = beginsWriting(left) && !leftReads
  if (open) return false
  if (kind === 'soft') return leftReads && rightBegins()
  if (kind === 'sentence') return leftReads || rightBegins()
  if (kind !== 'line' && isGuarded(stripped(left)) && !leftReads) return false
  if (kind === 'line') return beginsWriting(left) && /:\s*\n/.test(left) ? rightBegins() : true
  // An unquoted shell command keeps its semicolons.
  if (kind === 'semicolon' && runsBare(stripped(left))) return rightBegins()
  return true
}

/** Reads a clause that has only an argument with the verb of the clause before, as in "read a.txt, then b.txt". */
function elliptic (marked: Marked, verb: string, clause: string, known: Known): Command[] | undefined {
  const text = stripped(clause)
  const argument = /^(?:run|execute)/i.test(verb) ? MARK : `(?:${MARK}|\\S*[./\\\\]\\S*[^\\s.!?,])`
  if (!verb || !new RegExp(`^${argument}(?=[.,!?]*$|,?\\s)`).test(text)) return undefined
  return readCommands(marked, `${verb} ${text}`, known)
}

const verbOf = (clause: string) =>
  /^(?:read|open|show me|show|cat|write|save|put|create|delete|remove|rm|erase|run|execute|list|fetch|download)\b/i.exec(stripped(clause))
    ?.[0]
