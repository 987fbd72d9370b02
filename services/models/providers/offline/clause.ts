import type { Token } from './tokens.ts'

/** The file and folder that the message named before, to which "it" and "there" refer. */
export interface Known {
  file?: string
  folder?: string
  /** Whether the last command read the file, so that "show me its contents" asks for nothing more. */
  isRead?: boolean
}

/** A tool call that a message asks for. */
export interface Command {
  toolName: string
  input: Record<string, unknown>
}

/** Patterns (see `after`) of polite and ordering words, which do not change the meaning of the command behind them. */
const OPENINGS = [
  ',|.|!|:|\n|please|kindly|just|simply|first|firstly|second|secondly|third|finally|lastly|now|next|also|then|and|so|afterwards|step',
  'ok|okay|hey|hi|hello|thanks|great|sure|yes|well|again|plus',
  'good morning|day|evening',
  'thank you',
  'first of all',
  'after that|this',
  'could|can|would|will you',
  "i|i'd|we|we'd would? want|need|like|love you? to",
  "let's",
  'let us',
  'go ahead and',
  'help me to?',
  'make sure to',
  'task|goal|todo :'
]
/** The same behind the command, of one to three words. */
const CLOSINGS = [
  ...['please|thanks|immediately|again|now|too|back|aloud|first', 'thank you', 'for|to me', 'right away', 'once more'],
  'if you can|please'
]

const NUMBER = /^\d{1,5}$/
/** The items of the patterns that were used; there are about two hundred. */
const items = new Map<string, Array<{ words: Set<string>, times?: string }>>()

function itemsOf (pattern: string) {
  const known = items.get(pattern)
  if (known) return known
  const made = pattern.split(' ').map((item) => {
    const times = /[?*]$/.exec(item)?.[0]
    return { words: new Set((times === undefined ? item : item.slice(0, -1)).split('|')), ...times !== undefined && { times } }
  })
  items.set(pattern, made)
  return made
}

/**
 * Returns the position behind a pattern if its words stand at a position; otherwise undefined. In a pattern, "a|b" stands for one
 * of several words, "a?" for a word that may be missing, "a*" for any number of words and "#" for a number.
 */
export function after (pattern: string, tokens: readonly Token[], from: number): number | undefined {
  let at = from
  for (const { words, times } of itemsOf(pattern)) {
    const start = at
    const end = times === '*' ? tokens.length : Math.min(at + 1, tokens.length)
    while (at < end && (words.has(tokens[at].word) || (words.has('#') && NUMBER.test(tokens[at].word)))) at++
    if (at === start && times === undefined) return undefined
  }
  return at
}

/** Returns the position behind the number or the bullet of a list's item. */
export function afterNumber (tokens: readonly Token[], at: number): number | undefined {
  const [{ word, end }, mark] = [tokens[at] ?? { word: '' }, tokens[at + 1]]
  if (/^(?:[-*•–—>#]+|\(?\d{1,3}\))$/.test(word)) return at + 1
  return NUMBER.test(word) && mark?.kind === 'mark' && mark.start === end ? at + 2 : undefined
}

export const isPunctuation = ({ kind }: Token): boolean => kind === 'mark' || kind === 'line'

function withoutPoliteness (tokens: readonly Token[]): readonly Token[] {
  let [start, end] = [0, tokens.length]
  const opening = () => afterNumber(tokens, start) ?? OPENINGS.map((words) => after(words, tokens, start)).find((at) => at !== undefined)
  for (let at = opening(); at !== undefined; at = opening()) start = at
  const isClosing = (from: number) =>
    from >= start && ((from === end - 1 && isPunctuation(tokens[from])) || CLOSINGS.some((words) => after(words, tokens, from) === end))
  for (let at: number | undefined = end; at !== undefined; at = [end - 1, end - 2, end - 3].find(isClosing)) end = at
  return tokens.slice(start, end)
}

/** A part of a message that may be a command, and the position up to which it was read. */
export class Clause {
  at = 0
  readonly message: string
  readonly known: Known
  readonly all: readonly Token[]
  /** The tokens without polite words and punctuation around them. */
  readonly tokens: readonly Token[]

  constructor (message: string, tokens: readonly Token[], known: Known = {}) {
    this.message = message
    this.known = known
    this.all = tokens
    this.tokens = withoutPoliteness(tokens)
  }

  get next (): Token | undefined {
    return this.tokens[this.at]
  }

  get isOver (): boolean {
    return this.at >= this.tokens.length
  }

  /** Moves behind a pattern (see `after`) if it comes next, and returns whether it does. */
  take (pattern: string): boolean {
    const end = after(pattern, this.tokens, this.at)
    this.at = end ?? this.at
    return end !== undefined
  }

  /** Moves behind the next token and returns it. */
  takeToken (): Token | undefined {
    return this.tokens[this.at++]
  }

  /** The text from one token to another as it was written; a single quotation loses its quotes. */
  textOf (start: number, end: number): string {
    const [first, last] = [this.tokens[start], this.tokens[end - 1]]
    return first === last && first.kind === 'quote' ? first.text : this.message.slice(first.start, last.end)
  }

  /** The rest as it was written, with the punctuation and polite words at its end. */
  get written (): string {
    const last = this.all.findLast(({ kind }) => kind !== 'line')
    return this.next && last ? this.message.slice(this.next.start, last.end) : ''
  }
}
