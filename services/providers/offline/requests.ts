import { MARK, type Marked } from './quotes.ts'

const FETCHES =
  /^(fetch|get|download|retrieve|grab|load|visit|browse(?: to)?|open|read|show(?: me)?|go to|navigate to|curl|wget|pull(?: up)?|check|summari[sz]e|look at|request|scrape|access|view|display|print)\b\s+/i
const PAGE =
  /^(?:(?:me|the|an?|this|web|page|web ?page|site|web ?site|url|link|address|html|json|text|data|contents?|of|from|at|on|under|to|behind|both)(?:\s*:\s*|\s+))+/i
const DOMAIN = /^(?:localhost|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]\S*)?$/i
const STRONG = /^(?:fetch|download|visit|browse|go to|navigate|curl|wget|scrape|request|retrieve)/i

/** Reads a clause that fetches web pages. */
export function readUrls (marked: Marked, text: string): string[] | undefined {
  const verb = FETCHES.exec(text)
  if (!verb) return undefined
  const rest = text.slice(verb[0].length).replace(PAGE, '')
  const items = rest.replace(/[.,!?;]+$/, '').split(/\s*,\s+(?:and\s+)?|\s+and\s+/i)
  const urls = items.map((item) => {
    const found = new RegExp(`^(${MARK}|\\S+)(?:\\s+(?:page|site|website|url|again|now|and (?:show|tell|give|summari[sz]e).*))?$`, 'i')
      .exec(item.trim())
    const word = found && marked.plain(found[1])
    if (!word) return undefined
    if (/^https?:\/\/\S+$/i.test(word)) return word
    if (STRONG.test(verb[1]) && DOMAIN.test(word)) return `${/^(?:localhost|127\.)/i.test(word) ? 'http' : 'https'}://${word}`
    return undefined
  })
  return urls.every((url) => url !== undefined) ? urls : undefined
}

const SCREENSHOT =
  /^(?:(?:take|make|grab|capture|get|do|show|give|create|snap)\s+(?:me\s+)?)?(?:(?:a|the|another|one|new|current)\s+)*(?:screen ?-?shot|screen ?grab|screen ?capture|(?:snapshot|picture|photo|image|capture) of (?:the|my) (?:whole |entire |current )?(?:screen|desktop|display))(?:\s+of (?:the|my)?\s*(?:whole |entire |current )?(?:screen|desktop|display))?[.!?]*$|^(?:capture|look at|show(?: me)?|what(?:['’]s| is) (?:currently )?on|describe) (?:the|my) (?:screen|desktop|display)[.!?]*$/i
export const isScreenshot = (text: string): boolean => SCREENSHOT.test(text)

const SYSTEM = [
  /^(?:(?:show|tell|give|get|display|print|check|report|find out|list|read|fetch|collect|what is|what['’]s|what are|describe|run|call)\s+(?:me\s+)?(?:some\s+|all\s+)?(?:about\s+|information (?:about|on)\s+|info (?:about|on)\s+|details (?:about|of|on)\s+)?)?(?:(?:the|my|this|your|some|our)\s+)*(?:system|computer|machine|pc|laptop|os|operating system|hardware|host|platform)(?:['’]s)?[ -]?(?:info|infos|information|status|details?|specs?|specifications?|properties|summary|overview|name|version)[.!?]*$/i,
  /^(?:show|tell|give|describe)\s+(?:me\s+)?(?:about\s+|information (?:about|on)\s+|info (?:about|on)\s+|details (?:about|of|on)\s+)(?:the|my|this|your|our)\s+(?:system|computer|machine|pc|laptop|os|operating system|hardware|host|platform)[.!?]*$/i,
  /^(?:what|which)\s+(?:kind of\s+|type of\s+|sort of\s+)?(?:system|computer|machine|os|operating system|platform|hardware|cpu|processor|architecture)\s+(?:is|am|are|do|does)\b.*$/i,
  /^how (?:much|many)\s+(?:free\s+|available\s+|total\s+)?(?:memory|ram|cpus?|cores?|processors?|disk(?: space)?)\b.*$/i,
  /^(?:what(?:['’]s| is)|show(?: me)?|tell me|check)\s+(?:(?:the|my|this|your|current)\s+)*(?:system|cpu|processor|memory|ram|os|operating system|platform|host ?name|uptime|architecture)(?:\s+(?:usage|load|size|name|version|is this|of (?:this|the|my) (?:machine|computer|system)))?[.!?]*$/i,
  /^(?:system ?info|sysinfo|uname)[.!?]*$/i
]
export const isSystemInfo = (text: string): boolean => SYSTEM.some((pattern) => pattern.test(text))

const ON_WEB = '(?:(?:on|in|through|via|using)\\s+)?(?:the\\s+)?(?:web|internet|net|google|duckduckgo|bing|online|world wide web)'
const SEARCHES = new RegExp(
  `^(?:(?:do|run|make|perform|start)\\s+an?\\s+)?(?:(?:web|internet|online|google)[ -]?)?search(?:\\s+${ON_WEB})?(?:\\s+(?:for|about|on))?\\s*:?\\s+([^]+)$`,
  'i'
)
const LOOKS_UP =
  /^(?:google(?: for)?|look up|look for|find(?: out)?(?: some)?(?: information| info| news)? (?:about|on)|websearch)\s*:?\s+([^]+)$/i
const FIND_ON_WEB = new RegExp(`^(?:find|look for)\\s+([^]+?)\\s+${ON_WEB}[.!?]*$`, 'i')
const LOCAL =
  /^(?:(?:the|my|all|this|these|every)\s+)*(?:files?|folders?|director(?:y|ies)|code|project|workspace|repo(?:sitory)?|disk)\b|\s(?:in|inside|within) (?:(?:the|my|all|this|these|every)\s+)*(?:files?|folders?|director(?:y|ies)|code|project|workspace|repo(?:sitory)?)\b/i

/** Reads a clause that searches the web. A search in files is not read, because no command does it. */
export function readSearch (marked: Marked, text: string): string[] | undefined {
  const found = FIND_ON_WEB.exec(text) ?? SEARCHES.exec(text) ?? LOOKS_UP.exec(text)
  if (!found || LOCAL.test(found[1])) return undefined
  const phrase = found[1].replace(new RegExp(`\\s+${ON_WEB}[.!?]*$`, 'i'), '').replace(
    new RegExp(`^${ON_WEB}\\s+(?:for|about)\\s+`, 'i'),
    ''
  )
  const query = marked.plain(phrase.replace(new RegExp(`(${MARK})[.!?,;]+$`), '$1')).trim()
  const words = new RegExp(MARK).test(phrase) ? query : query.replace(/[.!]+$/, '')
  return words ? [words] : undefined
}

/** A named key or a combination of keys: "enter", "ctrl+s". */
const PRESSES =
  /^(?:press|hit|push)\s+(?:the\s+)?(?:keys?\s+)?(enter|return|tab|esc(?:ape)?|space|backspace|del(?:ete)?|insert|up|down|left|right|home|end|page ?up|page ?down|f\d{1,2}|(?:(?:ctrl|control|shift|alt|option|cmd|command|meta|super|win)\s*\+\s*)+\S{1,10}?)(?:\s+keys?)?[.!?]*$/i

/** Reads a clause that clicks, types, presses keys or scrolls. Coordinates are pixels from the top left corner. */
export function readPointer (marked: Marked, text: string): Array<{ toolName: string, input: Record<string, unknown> }> | undefined {
  const click =
    /^(?:(?:mouse )?(double|right|left|middle)?[ -]?click)(?:\s+(?:at|on|in))?(?:\s+(?:the )?(?:position|point|coordinates?|pixel))?\s*\(?\s*(?:x\s*[=:]?\s*)?(\d+)\s*[,x\s]\s*(?:and\s+)?(?:y\s*[=:]?\s*)?(\d+)\s*\)?[.!?]*$/i
      .exec(text)
  if (click) {
    const how = click[1]?.toLowerCase()
    const extra = how === 'double' ? { double: true } : how ? { button: how } : {}
    return [{ toolName: 'click', input: { x: Number(click[2]), y: Number(click[3]), ...extra } }]
  }
  const typed = new RegExp(`^type(?:\\s+(?:the\\s+)?(?:text|words?))?\\s*:?\\s+(${MARK})[.!?]*$`, 'i').exec(text)
  if (typed) return [{ toolName: 'type', input: { text: marked.plain(typed[1]) } }]
  const pressed = PRESSES.exec(text)
  if (pressed) return [{ toolName: 'type', input: { keys: pressed[1].toLowerCase().replace(/\s+/g, '') } }]
  const scroll = /^scroll(?:\s+the page)?\s+(up|down|left|right)(?:\s+(?:by\s+)?(\d+)(?:\s+\w+)?)?[.!?]*$/i.exec(text)
  if (scroll) {
    return [{ toolName: 'scroll', input: { direction: scroll[1].toLowerCase(), ...scroll[2] ? { amount: Number(scroll[2]) } : {} } }]
  }
  return undefined
}
