import { isObject } from './json.ts'
import { textsIn } from './texts-in.ts'
import { isTopLevelDomain } from './top-level-domains.ts'

const WORD = /[^\s"'`<>|^{}]+/g
/** What stands before an address and is no part of it: marks, the words of a link in markdown, the name of an attribute. */
const BEGINS = /^(?:[^\s()[\]/]*\]\(|[([*_~!]|[\w-]{1,40}=)+/
const ENDS = /[)\].,;:!?*_~]+$/
/** Characters of one text that are looked through, of one address, and addresses of one text. */
const LONGEST_TEXT = 512 * 1024
const LONGEST_ADDRESS = 8192
const MOST_ADDRESSES = 2_000

/** An address in the form in which two are compared: without scheme, `www.`, fragment and final slash. */
export interface Address {
  key: string
  host: string
  /** The address in full, as programs read it. */
  text: string
}

/** Schemes in which `/`, `\` and `//` mean the same: https://url.spec.whatwg.org/#special-scheme */
const SPECIAL = /^(?:https?|wss?|ftp):/i
/** Schemes that lead to a host, whatever its name is. */
const LEADING = new RegExp('^(?:ftps|sftp|ssh|git|svn|telnet|ldaps?|gopher|rsync|smb|nfs|imaps?|smtps?|rediss?|amqps?|mqtts?|rtmps?|rtsp|' +
  'ircs?|tcp|udp|s3|gs):', 'i')
const WITH_SLASHES = /^[a-z][a-z0-9+.-]{0,30}:\/\/\S/i
const MAIL = /^(?:mailto:)?([^\s@:/\\]+(?::[^\s@:/\\]*)?)@([^\s@/\\?#:]+)(.*)$/i
const HOST = /^([^/\\?#:@]+)(:\d{1,5}(?=[/\\?#]|$))?([/\\].*|[?#].+)?$/
const LABELS = /^[\p{L}\p{N}_-]+(?:[.。．｡][\p{L}\p{N}_-]+)+[.。．｡]?$/u
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i
/** Domains that are extensions of files, too: `main.rs:12` and `README.md#top` are places in files. */
const OF_FILES = /\.(?:md|rs|py|sh|pl|cc|so|zip|mov|ps|in)$/i
/** Domains that are no word of a program: a text that is such a name and nothing else is one of a host. */
const USUAL = /\.(?:com|org|net|edu|gov|info|biz|io|dev|xyz|top|example)$/i

function ofUrl (url: URL | null): Address | undefined {
  if (url === null || url.hostname === '') return undefined
  const isUsual = url.port === '' || (url.protocol === 'http:' && url.port === '80')
  const host = url.hostname.replace(/^www\./, '').replace(/\.$/, '') + (isUsual ? '' : `:${url.port}`)
  const user = url.username === '' && url.password === '' ? '' : ` ${url.username}:${url.password}`
  return { host, key: host + url.pathname.replace(/\/+$/, '') + url.search + user, text: url.href }
}

/** Whether a name can be one of a host on the internet. */
function isHostName (name: string): boolean {
  if (IP.test(name)) return true
  return LABELS.test(name) && isTopLevelDomain(name.split(/[.。．｡]/).filter(Boolean).at(-1)!)
}

function readMail (word: string): Address | undefined {
  const [, local, name, rest] = MAIL.exec(word) ?? []
  if (local === undefined || !isHostName(name)) return undefined
  const host = name.toLowerCase().replace(/\.$/, '')
  return { host, key: `${local}@${host}${rest}`, text: `mailto:${local}@${host}${rest}` }
}

/** Reads a word that is an address by its form, in a text of any kind. */
function readWord (word: string): Address | undefined {
  if (/%3a%2f%2f/i.test(word)) return readWord(decoded(word))
  if (SPECIAL.test(word)) return ofUrl(URL.parse(word))
  if (WITH_SLASHES.test(word)) {
    const url = URL.parse(word)
    return url !== null && (LEADING.test(word) || isHostName(url.hostname)) ? ofUrl(url) : undefined
  }
  if (/^[/\\]{2}/.test(word)) {
    const rest = word.replace(/^[/\\]+/, '')
    const [, name = '', , path = ''] = HOST.exec(rest) ?? []
    return isHostName(name) || (word.startsWith('\\\\') && path.startsWith('\\')) ? ofUrl(URL.parse(`https://${rest}`)) : undefined
  }
  const mail = readMail(word)
  if (mail !== undefined) return mail
  const [, name, port, path] = HOST.exec(word) ?? []
  if (name === undefined || !isHostName(name)) return undefined
  const isPath = path !== undefined && !(OF_FILES.test(name) && path.startsWith('#'))
  const isPort = port !== undefined && !OF_FILES.test(name)
  return isPath || isPort || /^www\./i.test(name) ? ofUrl(URL.parse(`https://${word}`)) : undefined
}

function decoded (word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word.replace(/%3a/gi, ':').replace(/%2f/gi, '/')
  }
}

/** Reads a text that is an address, also without a scheme; undefined for what is none. */
export function readAddress (text: string): Address | undefined {
  const word = text.trim()
  const read = readWord(word)
  if (read !== undefined || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(word)) return read
  return ofUrl(URL.parse(`https://${word}`))
}

/** Whether a person means an address by a word: names have a dot, those of this machine need none. */
const isMeant = (word: string) =>
  word.includes('.') || word.includes('://') || word.includes('@') || /^localhost(?:[:/]|$)/i.test(word) || /^[\w-]+:\d{2,5}\b/.test(word)

/** Returns the addresses in a text, each as it stands, and without the marks behind it; with `asSaid` as people write them. */
export function addressesIn (text: string, { asSaid = false } = {}): Address[] {
  const found = new Map<string, Address>()
  for (const [match] of text.slice(0, LONGEST_TEXT).matchAll(WORD)) {
    if (match.length > LONGEST_ADDRESS || !/[.。．｡:@]/.test(match)) continue
    const plain = match.replaceAll('&amp;', '&').replace(BEGINS, '')
    for (const form of new Set([plain, plain.replace(ENDS, '')])) {
      const address = asSaid && isMeant(form) ? readAddress(form) : readWord(form)
      if (address !== undefined) found.set(address.key, address)
    }
    if (found.size >= MOST_ADDRESSES) break
  }
  return [...found.values()]
}

/** Returns the addresses in all texts of a value. */
export const addressesInValue = (value: unknown, options?: { asSaid?: boolean }): Address[] =>
  [...textsIn(value)].flatMap((text) => addressesIn(text, options))

/** Words in names of properties that hold an address, and those that may hold another thing: an address has a dot then. */
const OF_ADDRESSES = /^(?:\w*ur[li]s?|hrefs?|host(?:name)?s?|endpoints?|webhooks?|websites?)$/
const MAY_BE = /^(?:domains?|links?|address(?:es)?)$/
const wordsOf = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z\d]+/)
const PATHS = ['path', 'pathname', 'route', 'resource']
const QUERIES = ['query', 'querystring', 'search', 'params', 'qs']

/** Reads the value of a property that holds addresses by its name. */
function readNamed (name: string, text: string): Address | undefined {
  const words = wordsOf(name)
  const [isAddress, mayBe] = [OF_ADDRESSES, MAY_BE].map((pattern) => words.some((word) => pattern.test(word)))
  const value = text.trim()
  if ((!isAddress && !mayBe) || value === '' || /\s|^[/#?.](?![/\\])/.test(value)) return undefined
  if (!isAddress && !value.includes('.')) return undefined
  if (!/^[\p{L}\p{N}_.。．｡-]+(?::\d{1,5})?(?:[/\\?#].*)?$/u.test(value)) return undefined
  return readAddress(value)
}

/** Returns the address that the fields of an object make together. */
function readParts (value: Record<string, unknown>): Address | undefined {
  const entries = Object.entries(value)
  const find = (names: readonly string[]) => entries.find(([name]) => names.includes(name.toLowerCase()))?.[1]
  const path = find(PATHS)
  const query = find(QUERIES)
  const host = entries.flatMap(([name, each]) => typeof each === 'string' ? readNamed(name, each) ?? [] : [])[0]
  if (host === undefined || (path === undefined && query === undefined)) return undefined
  const port = find(['port'])
  const asQuery = isObject(query) ? new URLSearchParams(query as Record<string, string>).toString() : query
  const place = typeof path === 'string' ? path.replace(/^\/*/, '/') : '/'
  const end = asQuery === undefined ? place : `${place}?${String(asQuery).replace(/^\?/, '')}`
  const withPort = port === undefined || host.host.includes(':') ? host.host : `${host.host}:${String(port)}`
  return readAddress(`https://${withPort}${end}`)
}

/** Returns the addresses in the input of a tool, of which nobody knows what the tool does with it. */
export function addressesOfInput (input: unknown, name = ''): Address[] {
  if (typeof input === 'string') {
    const bare = USUAL.test(input.trim()) && isHostName(input.trim()) ? readAddress(input) : undefined
    return [readNamed(name, input) ?? bare ?? [], addressesIn(input)].flat()
  }
  if (Array.isArray(input)) return input.flatMap((each) => addressesOfInput(each, name))
  if (!isObject(input)) return []
  const parts = readParts(input)
  return [
    ...parts === undefined ? [] : [parts],
    ...Object.entries(input).flatMap(([key, each]) => [...addressesIn(key), ...addressesOfInput(each, key)])
  ]
}

/** Returns an address without its last parts, up to its host: what each says is known where the whole is known. */
export function * shorterForms ({ key, host }: Address): Generator<string> {
  yield host
  if (!key.startsWith(host)) return
  const path = key.slice(host.length).replace(/[? ].*$/s, '')
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield host + path.slice(0, at)
}
