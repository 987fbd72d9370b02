/**
 * A path with an extension, in quotes (then blanks are allowed), backticks or bare; or one of the known names without one.
 * Every repetition is bounded and starts at a word boundary, because reports may be long and the patterns scan all of it.
 */
const NAME = String
  .raw`(?<![\w./-])(?:~?\.{0,2}/)?(?:[\w.-]{1,64}/){0,12}(?:[\w-][\w.-]{0,100}\.[a-z][a-z0-9]{0,7}|(?:Makefile|Dockerfile|LICENSE|Procfile|Jenkinsfile)\b)`
const PATH = String.raw`(?:[\x60"“'](?<q>[\w./~-][\w ./~-]{0,100}\.[a-z][a-z0-9]{0,7})[\x60"”']|(?<b>${NAME}))`
/** Words before the path, but not into a clause about another file. */
const UP_TO = String
  .raw`(?:(?!\b(?:that|which|from|using|after|before|based|without|instead|because|if|when|calls?|deletes?|reads?|removes?|calling|deleting|reading|removing)\b)[^.!?\n]){0,120}?`
const MADE = '(?:wrote|written|created|saved|made|generated|produced|stored|added|updated|exported|put)'
const MOVED = '(?:backed up|compressed|converted|copied|exported|extracted|moved|packed|renamed|turned|zipped)'
const MAKE = '(?:write|create|save|make|generate|produce|store|export|put)'
const PRODUCT =
  '(?:chart|data|diagram|document|draft|file|image|list|minutes|notes|output|plan|plot|report|results?|script|story|summary|table|tests?|text)'

const pattern = (source: string) => new RegExp(source, 'gi')
const CLAIMS = [
  // "I wrote the report to report.md", "saved as a.csv", "created files a.txt and b.txt"
  pattern(String.raw`\b${MADE}\b${UP_TO}${PATH}`),
  // "renamed a.txt to b.txt"
  pattern(String.raw`\b${MOVED}\b(?:[^.!?\n]{0,40}?\S+)? (?:in)?to ${PATH}`),
  // "report.md has been written", "a.txt is ready", "b.txt now holds a copy"
  pattern(
    String
      .raw`${PATH}\s+(?:has|have|was|were|is|are)\s+(?:now\s+)?(?:been\s+)?(?:now\s+)?(?:${MADE}|ready|complete|in place|done|waiting)\b`
  ),
  pattern(String.raw`${PATH}\s+now\s+(?:holds|contains|has|lists|includes)\b`),
  // "you'll find it in report.md", "the notes are in notes.txt", "The chart is ready: chart.png"
  pattern(
    String
      .raw`\b(?:you(?:['’]ll| will| can)? find|can be found|is waiting|is located|lives?|now lives)\b${UP_TO}\b(?:in|at|under)\s+${PATH}`
  ),
  pattern(String.raw`\bthe\s+(?:\w+\s+)?${PRODUCT}s?\s+(?:is|are)\s+(?:now\s+)?(?:in|at|under)\s+${PATH}`),
  pattern(String.raw`\b${PRODUCT}(?:\s+(?:is|are)\s+(?:ready|done|complete|saved|written))?\s*(?::|→|->|=>)\s*${PATH}`)
]
const WISHES = [
  pattern(
    String
      .raw`\b${MAKE}\b[^.!?\n]{0,160}?\b(?:to|in|into|as|at|file|called|named)\s+(?:a |the )?(?:new )?(?:file )?(?:called |named )?${PATH}`
  ),
  pattern(String.raw`\b(?:write|create|make|generate|produce)\s+(?:a |the )?(?:new )?(?:file )?(?:called |named )?${PATH}`),
  pattern(String.raw`\b(?:rename|move|copy|convert|turn|back up)\b[^.!?\n]{0,80}?\S+ (?:in)?to ${PATH}`)
]
const REMOVED = [
  pattern(String.raw`\b(?:deleted|removed|erased)\s+(?:the\s+)?(?:file\s+)?${PATH}`),
  pattern(
    String
      .raw`(?<!\b(?:except|but|for|from|in|than|and)\s{1,3})${PATH}\s+(?:has|was|is)\s+(?:now\s+)?(?:been\s+)?(?:now\s+)?(?:deleted|removed|erased|gone)\b`
  )
]
const ANY = [pattern(String.raw`(?<q>^$)?(?<b>${NAME})`)]
const CHANGES = [pattern(String.raw`\b(?:append|add|change|edit|update|correct|insert|fix)\b[^.!?\n]{0,120}?\b(?:to|in|into)?\s*${PATH}`)]
/** The further names of a list such as "a.txt, b.txt and c.txt". */
const MORE = new RegExp(String.raw`^(?:\s*,?\s*(?:and (?:an? )?|&\s*|,\s*))${PATH}`, 'i')
/** Texts that only look like a path: abbreviations, versions, addresses, and identifiers in code. */
const NO_FILE =
  /^(?:e\.g|i\.e|etc|vs|[A-Z]\.[A-Z]|(?:node|next|vue|three|d3)\.js|[vV]?\d+(?:\.\w+)*)$|^www\.|\.(?:com|org|net|io|dev)$|^(?:console|process|module|window|document|this|self|json|fs|os|path|np|pd)\.(?!(?:js|mjs|ts|tsx|json|py|md|txt|csv|css|html|sh|go|rs|yml|yaml|toml)$)[\w.]+$/i
/** Paths that are returned at most. */
const MAX_PATHS = 20
/** Characters that are searched. */
const MAX_SEARCHED = 20_000

/** Files that a report claims to have created. */
export const claimedFiles = (report: string): string[] => find(report, CLAIMS)

/** Files that a goal asks to create. */
export const wantedFiles = (goal: string): string[] => find(goal, WISHES)

/** Files that a goal asks to change. */
export const changedFiles = (goal: string): string[] => find(goal, CHANGES)

/** Every text in a report that looks like a file. */
export const namedFiles = (report: string): string[] => find(report.slice(0, MAX_SEARCHED).replace(/“[^”\n]{0,400}”|"[^"\n]{0,400}"/g, ' '), ANY)

/** Files that a report claims to have removed. */
export const removedFiles = (report: string): string[] => find(report, REMOVED)

function find (text: string, patterns: RegExp[]): string[] {
  const found = new Set<string>()
  for (const pattern of patterns) {
    for (const match of text.slice(0, MAX_SEARCHED).matchAll(pattern)) {
      // In "a.txt to b.txt, c.txt to d.txt" the next name is a source, so a move takes no further names.
      const isMove = pattern.source.includes(MOVED)
      let at = match.index + match[0].length
      for (
        let next: RegExpMatchArray | null = match;
        next !== null;
        next = isMove ? null : text.slice(at, at + 200).match(MORE), at += next?.[0].length ?? 0
      ) {
        found.add((next.groups!.q ?? next.groups!.b).replace(/\.+$/, ''))
      }
    }
  }
  return [...found].filter((path) => !NO_FILE.test(path)).slice(0, MAX_PATHS)
}
