import { isIPv6 } from 'node:net'
import { isObject } from './json.ts'
import { decodePercents, spellPlainly } from './plain-spelling.ts'
import { textsIn } from './texts-in.ts'
import { isTopLevelDomain } from './top-level-domains.ts'

const WORD = /[^\s"'`<>|^{}]+/g
/** Matches characters before an address that are not part of it: punctuation, or the name of an attribute with `=`. */
const BEGINS = /^(?:[([*_~!]|@(?=[^\s@/]+@)|[\w-]{1,40}=)+/
/** Characters that can separate two addresses, or an address from the words of a program. */
const GLUE = /[()[\],;=&?!*~]+/
/** The start of an address within a word. */
const BEGINNING = /[a-z][a-z0-9+.-]{1,30}:(?:\/\/|\\\\)|(?<=:)\/\//gi
const ENDS = /[)\].,;:!?*_~]+$/
/** The most characters of one text that are searched, of one address, and the most addresses of one text. */
const LONGEST_TEXT = 512 * 1024
const LONGEST_ADDRESS = 8192
const MOST_ADDRESSES = 2_000
/** The most pieces of one word that are read. */
const MOST_PIECES = 200

/** An address. `key` is the form in which addresses are compared: without scheme, `www.`, fragment and final slash. */
export interface Address {
  key: string
  host: string
  /** The address in full, as programs read it. */
  text: string
}

/** Schemes in which `/`, `\` and `//` mean the same: https://url.spec.whatwg.org/#special-scheme */
const SPECIAL = /^(?:https?|wss?|ftp):/i
/** Schemes that always lead to a host, whatever its name looks like. */
const LEADING = new RegExp('^(?:ftps|sftp|ssh|git|svn|telnet|ldaps?|gopher|rsync|smb|nfs|imaps?|smtps?|rediss?|amqps?|mqtts?|rtmps?|rtsp|' +
  'ircs?|tcp|udp|s3|gs):', 'i')
const WITH_SLASHES = /^[a-z][a-z0-9+.-]{0,30}:[/\\]{2}\S/i
const MAIL = /^(?:mailto:)?([^\s@:/\\]+(?::[^\s@:/\\]*)?)@([^\s@/\\?#:]+)(.*)$/i
const HOST = /^(\[[\da-f:.]+\]|[^/\\?#:@]+)(:\d{2,5}(?=[/\\?#]|$))?([/\\].*|[?#].+)?$/i
/** A place on another computer, as scp and rsync write it. */
const REMOTE = /^([^/\\?#:@]+)::?([~/].*)$/
const LABELS = /^[\p{L}\p{N}_-]+(?:[.。．｡][\p{L}\p{N}_-]+)+[.。．｡]?$/u
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i
/** Top-level domains that are also extensions of files: `main.rs:12` and `README.md#top` are places in files. */
const OF_FILES = /\.(?:md|rs|py|sh|pl|cc|so|zip|mov|ps|in)$/i
/** Top-level domains that are rarely the last part of a name in source code. A text that is one name under such a domain is a host. */
const USUAL = /\.(?:com|org|net|edu|gov|info|biz|io|dev|xyz|top|example)$/i

function ofUrl (url: URL | null): Address | undefined {
  if (url === null || url.hostname === '') return undefined
  const isUsual = url.port === '' || (url.protocol === 'http:' && url.port === '80')
  const host = url.hostname.replace(/^www\./, '').replace(/\.$/, '') + (isUsual ? '' : `:${url.port}`)
  const user = url.username === '' && url.password === '' ? '' : ` ${url.username}:${url.password}`
  return { host, key: host + url.pathname.replace(/\/+$/, '') + url.search + user, text: url.href }
}

/** True if a name can be the name of a host on the internet. */
function isHostName (name: string): boolean {
  if (IP.test(name)) return true
  return LABELS.test(name) && isTopLevelDomain(name.split(/[.。．｡]/).filter(Boolean).at(-1)!)
}

function readMail (word: string): Address | undefined {
  const [, local, name, rest] = MAIL.exec(word) ?? []
  if (local === undefined || !isHostName(name)) return undefined
  const host = name.toLowerCase().replace(/\.$/, '').replace(/^\[(\d[\d.]+)\]$/, '$1')
  return { host, key: `${local}@${host}${rest}`, text: `mailto:${local}@${host}${rest}` }
}

/** Reads a word of any text as an address; undefined if it does not have the form of one. */
function readWord (word: string): Address | undefined {
  if (SPECIAL.test(word)) return ofUrl(URL.parse(word))
  if (WITH_SLASHES.test(word)) {
    const url = URL.parse(word.replace(/[/\\]{2}/, '//'))
    return url !== null && (LEADING.test(word) || isHostName(url.hostname)) ? ofUrl(url) : undefined
  }
  if (/^[/\\]{2}/.test(word)) {
    const rest = word.replace(/^[/\\]+/, '').replace(/^([^/\\@]+)@(?:SSL|\d+)/i, '$1')
    const [, name = '', , path = ''] = HOST.exec(rest) ?? []
    return isHostName(name) || (word.startsWith('\\\\') && path.startsWith('\\')) ? ofUrl(URL.parse(`https://${rest}`)) : undefined
  }
  const mail = readMail(word)
  if (mail !== undefined) return mail
  const [, remote, place] = REMOTE.exec(word) ?? []
  if (remote !== undefined && isHostName(remote)) return ofUrl(URL.parse(`https://${remote}/${place}`))
  const [, name, port, path] = HOST.exec(word) ?? []
  if (name === undefined || !isHostName(name)) return undefined
  const isPath = path !== undefined && !(OF_FILES.test(name) && path.startsWith('#'))
  const isPort = port !== undefined && !OF_FILES.test(name)
  return isPath || isPort || name.startsWith('[') || /^www\./i.test(name) ? ofUrl(URL.parse(`https://${word}`)) : undefined
}

/**
 * Returns further addresses in a word, beside the address that the word itself is: those glued to other words, encoded ones, and the
 * address that another program would read.
 */
function readInside (word: string, isAddress: boolean): Address[] {
  const inside = new Set<string>()
  const decoded = word.includes('%') ? decodePercents(word) : word
  // Programs do not agree about a backslash before an @.
  if (SPECIAL.test(decoded) && /\\[^@]*@/.test(decoded)) inside.add(decoded.replace(/^([a-z]+:)[/\\]*.*@/i, '$1//'))
  // The rest of an address goes to its host, but that host might forward to an address in the rest.
  if (!isAddress || !word.includes('//')) {
    if (decoded !== word) inside.add(decoded)
    const pieces = decoded.split(GLUE)
    if (pieces.length > 1) for (const piece of pieces.slice(0, MOST_PIECES)) inside.add(piece)
  }
  for (const { index } of decoded.matchAll(BEGINNING)) {
    if (inside.size > MOST_PIECES) break
    if (index > 0) inside.add(decoded.slice(index))
  }
  return [...inside].flatMap((piece) => readWord(piece.replace(BEGINS, '').replace(ENDS, '')) ?? [])
}

/** Reads a text as an address, with or without a scheme; undefined if it is none. */
export function readAddress (text: string): Address | undefined {
  const word = text.trim()
  const read = readWord(word)
  if (read !== undefined || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(word)) return read
  return ofUrl(URL.parse(`https://${word}`))
}

/** True if a person means an address by this word. A name needs a dot or a port, unless it is `localhost`. */
const isMeant = (word: string) =>
  word.includes('.') || word.includes('://') || word.includes('@') || /^localhost(?:[:/]|$)/i.test(word) || /^[\w-]+:\d{2,5}\b/.test(word)

/**
 * Returns the addresses in a text. With `asSaid`, also those that people write without a scheme. With `isInput`, each address without the
 * punctuation behind it. Otherwise each address is returned twice: with the punctuation behind it and without.
 */
export function addressesIn (text: string, { asSaid = false, isInput = false } = {}): Address[] {
  const found = new Map<string, Address>()
  for (const [match] of spellPlainly(text.slice(0, LONGEST_TEXT)).replaceAll('](', '] ').matchAll(WORD)) {
    if (match.length > LONGEST_ADDRESS || !/[.。:@%\\]/.test(match)) continue
    const plain = match.replace(BEGINS, '')
    const trimmed = plain.replace(ENDS, '')
    const forms = (isInput ? [trimmed] : [plain, trimmed])
      .flatMap((form) => (asSaid && isMeant(form) ? readAddress(form) : readWord(form)) ?? [])
    for (const address of [...forms, ...readInside(match, forms.length > 0)]) found.set(address.key, address)
    if (found.size >= MOST_ADDRESSES) break
  }
  return [...found.values()]
}

/** Returns the addresses in all texts of a value. */
export const addressesInValue = (value: unknown, options?: { asSaid?: boolean }): Address[] =>
  [...textsIn(value)].flatMap((text) => addressesIn(text, options))

/**
 * Words in the names of properties that hold addresses; then words of properties that can hold something else, whose value counts as an
 * address only if it has a dot.
 */
const OF_ADDRESSES = /^(?:\w*ur[li]s?|hrefs?|src|host(?:name)?s?|endpoints?|webhooks?|websites?|authority|netloc|fqdn|origin|ips?|ipv[46])$/
const MAY_BE = /^(?:domains?|links?|address(?:es)?|servers?|sites?|proxy|peers?|remote|gateway|broker|callback|upstream|addr|target)$/
const wordsOf = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z\d]+/)
const PATHS = ['path', 'pathname', 'route', 'resource']
const QUERIES = ['query', 'querystring', 'search', 'params', 'qs']

/** Reads the value of a property whose name says that it holds addresses. */
function readNamed (name: string, text: string): Address | undefined {
  const words = wordsOf(name)
  const [isAddress, mayBe] = [OF_ADDRESSES, MAY_BE].map((pattern) => words.some((word) => pattern.test(word)))
  const spelled = spellPlainly(text).trim()
  const bare = spelled.replace(/^\*?\.(?=\w)/, '')
  const value = isHostName(bare) ? bare : spelled
  if ((!isAddress && !mayBe) || value === '' || /\s|^[/#?.](?![/\\])/.test(value)) return undefined
  if (isIPv6(value)) return readAddress(`[${value}]`)
  if (!isAddress && !value.includes('.')) return undefined
  if (!/^[\p{L}\p{N}_.。．｡-]+(?::\d{1,5})?(?:[/\\?#].*)?$/u.test(value)) return undefined
  return readAddress(value)
}

/** Returns the address that several fields of an object form together, such as host and path. */
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

/** A name and its value, as in headers, settings and queries. */
const PAIR = /([\w-]{2,40})["']?[ \t]{0,3}[:=][ \t]{0,3}["']?([^\s"'<>,;&]{4,300})/g
/** A line that runs a program which connects to another computer. */
const COMMAND = new RegExp('(?:^|[\\n;&|(`])[ \\t]*(?:sudo )?(?:ping6?|nslookup|dig|host|whois|traceroute|tracert|telnet|nc|ncat|ssh|' +
  'scp|sftp|rsync|git (?:clone|push|pull|fetch|remote|ls-remote|submodule)|curl|wget|ftp)[ \\t]([^\\n;&|]*)', 'g')

/** The option of a command that names another computer. */
const OPTION = /(?<=\s)(?:-[hHxs]|--(?:host|hostname|server|proxy|url|remote|address))[ \t=]{0,2}([^\s"']{4,300})/g
/** The end of a mail address whose first part is quoted. */
const QUOTED_MAIL = /["']@([^\s"'<>,;]{4,300})/g

/** Returns the hosts that a text names outside of addresses: as values of names such as `host`, and in commands. */
function hostsNamedIn (text: string): Address[] {
  const pairs = [...text.matchAll(PAIR)].flatMap(([, name, value]) =>
    readNamed(name, value) !== undefined && (name === 'Host' || USUAL.test(value) || IP.test(value)) ? [value] : [])
  const words = [...text.matchAll(COMMAND)].flatMap(([, line]) => line.split(/[\s"']+/))
  const others = [OPTION, QUOTED_MAIL].flatMap((pattern) => [...text.matchAll(pattern)].map(([, word]) => word))
  return [...pairs, ...words, ...others].map((word) => word.replace(ENDS, '').replace(/^@|:.*$/g, ''))
    .flatMap((word) => isHostName(word) && !OF_FILES.test(word) ? readAddress(word) ?? [] : [])
}

/** Returns the addresses in a text that is the value of a property. */
function addressesOfText (text: string, name: string, depth: number): Address[] {
  const found = [...addressesIn(text, { isInput: true }), ...hostsNamedIn(text)]
  const value = spellPlainly(text).trim()
  const isVersion = wordsOf(name).some((word) => /^(?:versions?|release|build|tag)$/.test(word))
  const isHost = isHostName(value) && (USUAL.test(value) || (IP.test(value) && !isVersion))
  const whole = readNamed(name, text) ?? (isHost ? readAddress(value) : undefined)
  if (whole !== undefined) found.push(whole)
  // Programs leave out line breaks and tabs in an address.
  if (/[\t\r\n]/.test(value) && !value.includes(' ') && /^[a-z\t\r\n]{2,12}:/i.test(value)) {
    found.push(...addressesIn(value.replace(/[\t\r\n]/g, ''), { isInput: true }))
  }
  if (/^[[{]/.test(value) && depth > 0) found.push(...addressesOfInput(readJson(value), name, depth - 1))
  return found
}

function readJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The deepest nesting of JSON in a text in JSON that is read. */
const MOST_LEVELS = 3

/**
 * Returns the addresses in the input of a tool, when nobody knows how the tool uses its input. Lists and objects are searched MOST_LEVELS
 * levels deep.
 */
export function addressesOfInput (input: unknown, name = '', depth = MOST_LEVELS): Address[] {
  if (typeof input === 'string') return addressesOfText(input, name, depth)
  // One number can be an address: its four bytes.
  if (typeof input === 'number') return input > 0xffffff && Number.isInteger(input) ? [readNamed(name, String(input)) ?? []].flat() : []
  if (Array.isArray(input)) {
    // The parts of a host name, each in an entry of a list.
    const labels = input.length > 1 && input.every((each) => typeof each === 'string' && /^[\w-]+$/.test(each)) ? input.join('.') : ''
    return [isHostName(labels) ? readNamed(name, labels) ?? [] : [], ...input.map((each) => addressesOfInput(each, name, depth))].flat()
  }
  if (!isObject(input)) return []
  const parts = readParts(input)
  return [
    ...parts === undefined ? [] : [parts],
    ...Object.entries(input).flatMap(([key, each]) => [...addressesIn(key, { isInput: true }), ...addressesOfInput(each, key, depth)])
  ]
}

/**
 * Yields the shorter forms of an address: its host alone, then the address without one, two or more of its last path segments. If the whole
 * address is known, its shorter forms count as known, too.
 */
export function * shorterForms ({ key, host }: Address): Generator<string> {
  yield host
  if (!key.startsWith(host)) return
  const path = key.slice(host.length).replace(/[? ].*$/s, '')
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield host + path.slice(0, at)
}
