import type { Clause, Command } from './clause.ts'
import { readPath } from './paths.ts'

export const CREATE = 'create|make|touch|add|new'
export const WRITE = 'write|save|put|store|overwrite|replace|fill|generate'
const LABEL = 'the|a|an|some|following|this|exact|as|its* text|content|contents|word|words|string|line|lines|sentence|message|code|data of|as|is|:|,*'
const INTO = 'to|into|in|inside|onto|as|at|under'

interface Writing {
  path: string
  content: string
}

/** Reads a clause that writes a file. What stands in quotes is written as it is. */
export function readWriting (clause: Clause): Command[] | undefined {
  const isNew = clause.take(CREATE)
  if (!isNew && !clause.take(`${WRITE} down? :?`)) return undefined
  const start = clause.at
  for (const form of [quoteFirst, intoFileFirst, fileFirst, ...isNew ? [emptyFile] : [textFirst]]) {
    clause.at = start
    const found = form(clause)
    if (found && clause.isOver) return [{ toolName: 'writeFile', input: { path: found.path, content: found.content } }]
  }
  return undefined
}

/** "write 'hello' to notes.txt" */
function quoteFirst (clause: Clause): Writing | undefined {
  clause.take(LABEL)
  const quote = clause.takeToken()
  if (quote?.kind !== 'quote') return undefined
  clause.take(`,? ${INTO}`)
  const path = readPath(clause, { here: false })
  return path && { path: path.path, content: quote.text }
}

/** "write to notes.txt: hello" */
function intoFileFirst (clause: Clause): Writing | undefined {
  clause.take(LABEL) || clause.take('the? following|this')
  const path = clause.take(`${INTO}|on`) ? readPath(clause, { here: false }) : undefined
  clause.take(':|,|\n*')
  return path && withContent(clause, path.path)
}

/** "create notes.txt with the text 'hello'" */
function fileFirst (clause: Clause): Writing | undefined {
  const path = readPath(clause, { here: false })
  clause.take(',')
  const isJoined = clause.take('with|containing|having|saying|:') || clause.take('that|which says|contains|reads|has|holds')
  if (!path || path.isFolder || !(isJoined || clause.next?.kind === 'quote')) return undefined
  clause.take(':|\n*')
  return withContent(clause, path.path)
}

function emptyFile (clause: Clause): Writing | undefined {
  const path = readPath(clause, { here: false })
  // A colon announces content that follows.
  return path?.isPlain && !path.isFolder && clause.all.at(-1)?.word !== ':' ? { path: path.path, content: '' } : undefined
}

/** "write hello to notes.txt" */
function textFirst (clause: Clause): Writing | undefined {
  const { tokens, message } = clause
  clause.take(LABEL)
  const first = clause.at
  for (const into of ['to|into|as', 'in|inside|under']) {
    for (let at = tokens.length - 1; at > first; at--) {
      clause.at = at
      const path = clause.take(into) ? readPath(clause, { here: false }) : undefined
      if (path?.isPlain && clause.isOver) return { path: path.path, content: message.slice(tokens[first].start, tokens[at - 1].end) }
    }
  }
  return undefined
}

/** Reads the rest of the clause as content: the text of a quotation, or else every character that was written. */
function withContent (clause: Clause, path: string): Writing | undefined {
  clause.take(LABEL)
  clause.take('\n*')
  const { next, at } = clause
  if (next?.kind !== 'quote') return next && { path, content: clause.rest({ whole: true }) }
  clause.at++
  clause.take('in|to|into|inside it')
  if (clause.isOver) return { path, content: next.text }
  clause.at = at
  return { path, content: clause.rest({ whole: true }) }
}
