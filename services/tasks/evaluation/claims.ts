/** A path with an extension, in quotes, backticks or bare. */
const PATH = String.raw`[\x60"'“]?((?:~?\.{0,2}/)?(?:[\w.-]+/)*[\w-][\w.-]*\.[a-z][a-z0-9]{0,7})[\x60"'”]?`
const MADE = String.raw`(?:wrote|written|created|saved|made|generated|produced|stored|added|updated|exported|put)`
const MAKE = String.raw`(?:write|create|save|make|generate|produce|store|export|put)`

const CLAIMS = [
  // "I wrote the report to report.md", "saved as a.csv", "created files a.txt and b.txt"
  new RegExp(String.raw`\b${MADE}\b[^.!?\n]{0,120}?${PATH}`, 'gi'),
  // "report.md has been written", "a.txt was created"
  new RegExp(String.raw`${PATH}\s+(?:(?:has|have|was|were|is|are)\s+(?:been\s+)?(?:now\s+)?)${MADE}\b`, 'gi')
]
const WISHES = [
  new RegExp(String.raw`\b${MAKE}\b[^.!?\n]{0,160}?\b(?:to|in|into|as|at|file|called|named)\s+(?:a |the )?(?:new )?(?:file )?(?:called |named )?${PATH}`, 'gi'),
  new RegExp(String.raw`\b(?:write|create|make|generate|produce)\s+(?:a |the )?(?:new )?(?:file )?(?:called |named )?${PATH}`, 'gi')
]
/** "a.txt, b.txt and c.txt": the names that follow one that was found. */
const MORE = new RegExp(String.raw`^(?:\s*,?\s*(?:and|&|,)\s*)${PATH}`, 'i')
const NOT_FILES = /^(?:e\.g|i\.e|etc|vs|node\.js|next\.js|vue\.js|\d+(?:\.\d+)*)$|^www\.|\.(?:com|org|net|io|dev)$/i
const MOST = 20

/** Files that a report says were made. */
export const claimedFiles = (report: string): string[] => find(report, CLAIMS)

/** Files that a goal asks to be made. */
export const wantedFiles = (goal: string): string[] => find(goal, WISHES)

function find (text: string, patterns: RegExp[]): string[] {
  const found = new Set<string>()
  for (const pattern of patterns) {
    for (const match of text.slice(0, 20_000).matchAll(pattern)) {
      let at = match.index + match[0].length
      for (let next: RegExpMatchArray | null = match; next !== null; next = text.slice(at, at + 200).match(MORE), at += next?.[0].length ?? 0) found.add(next[1].replace(/\.+$/, ''))
    }
  }
  return [...found].filter((path) => !NOT_FILES.test(path)).slice(0, MOST)
}
