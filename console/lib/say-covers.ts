import { hasText, say, type TextKey } from './say.ts'
import facts from './tool-facts.json'

/** Patterns of the service's sentences about the coverage of a grant, each with the key of the console's text. */
const FORMS: Array<[RegExp, TextKey]> = [
  [/^(?<does>[^,:"“]+), with exactly (?<input>.*), in "(?<folder>.*)"$/s, 'covers.exact'],
  [/^(?<does>[^,:"“]+): "(?<files>.*)", with any content$/s, 'covers.file'],
  [/^(?<does>[^,:"“]+): new (?<files>\*\S*) files in "(?<folder>.*)"$/s, 'covers.beside'],
  [/^(?<does>[^,:"“]+): (?<files>\*\S*) files in or below "(?<folder>.*)"$/s, 'covers.folder'],
  [/^(?<does>[^,:"“]+) at (?<hosts>\S.*), whatever the address says$/s, 'covers.host'],
  [/^(?<does>[^,:"“]+): every one in the box of "(?<folder>.*)": /s, 'covers.sandbox'],
  [/^(?<does>[^,:"“]+), as it is described now, with any input$/s, 'covers.tool']
]
/** Patterns of the texts that follow such a sentence for a grant that approved runs have taught, each with the key of its translation. */
const BEYOND: Array<[RegExp, TextKey]> = [
  [/, and again of those that this task made and nobody has changed since$/, 'covers.again'],
  [
    /, whatever (?<others>".*") is then, and at (?<elsewhere>".*") where there is nothing, or what this task made .*$/s,
    'covers.mixed'
  ],
  [/, where there is nothing, or what this task made and nobody has changed since$/, 'covers.own'],
  [/, whatever is there then$/, 'covers.whatever']
]
const LATER = /^Also later, unasked: (.*)\.$/s

/** Returns the coverage of an offered scope, without the words "Also later, unasked". */
export const coveredBy = (text: string): string => LATER.exec(text)?.[1] ?? text

/** Returns the console's text for the coverage of a grant; undefined if the sentence matches no pattern. */
export function sayCovers (text: string): string | undefined {
  const covered = coveredBy(text)
  for (const [form, key] of BEYOND) {
    const beyond = form.exec(covered)
    const covers = beyond === null ? undefined : sayCovers(covered.slice(0, beyond.index))
    if (covers !== undefined) return say(key, { covers, ...beyond!.groups })
  }
  for (const [form, key] of FORMS) {
    const found = form.exec(covered)?.groups
    if (found === undefined) continue
    const { does, input, ...rest } = found
    const covers = say(key, { ...rest, tool: toolOf(does), ...input !== undefined && { input: plainInput(input) } })
    return covered === text ? covers : say('covers.later', { covers })
  }
  return text === 'This call alone.' ? say('covers.once') : undefined
}

/** Tool names by the service's phrase for what the tool does. */
const NAMES = new Map(Object.entries(facts.names))

function toolOf (does: string): string {
  const name = NAMES.get(does) ?? does.replace(/^use /, '')
  const key = `tool.${name}`
  return hasText(key) ? say(key) : name
}

/** Returns an input, such as "“path: a.txt, content: Buy tea”", with labels instead of field names. */
const plainInput = (text: string): string => text.replace(/(^|, |[“(])(\w+)(?=: )/g, (written, before: string, name: string) => {
  const key = `field.${name}`
  return hasText(key) ? before + say(key) : written
})
