import { textsIn } from '../../lib/texts-in.ts'

const ADDRESS = /https?:\/\/[^\s"'`<>|\\^{}]+/gi
const WORD = /[^\s"'`<>|\\^{}]+/g
/** Marks around an address that are not part of it. */
const BEGINS = /^[([*_~]+/
const ENDS = /[)\].,;:!?*_~]+$/
/** Characters of one text that are looked through, of one address, and addresses of one text. */
const LONGEST_TEXT = 512 * 1024
const LONGEST_ADDRESS = 8192
const MOST_ADDRESSES = 2_000

/** An address in the form in which two are compared: without scheme, `www.`, fragment and final slash. */
export interface Address {
  key: string
  host: string
}

/** Reads an address as fetchUrl would; undefined for what is none. */
export function readAddress (text: string): Address | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text.trim()) ? text.trim() : `https://${text.trim()}`)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const isUsual = url.port === '' || (url.protocol === 'http:' ? '80' : '443') === url.port
  const host = url.hostname.replace(/^www\./, '') + (isUsual ? '' : `:${url.port}`)
  return { host, key: host + url.pathname.replace(/\/+$/, '') + url.search }
}

/** Returns the addresses in a text, each as it stands, and without the marks behind it; with `asSaid` also those without a scheme. */
export function addressesIn (text: string, { asSaid = false } = {}): Address[] {
  const found = new Map<string, Address>()
  for (const [match] of text.slice(0, LONGEST_TEXT).matchAll(asSaid ? WORD : ADDRESS)) {
    // People write names without a scheme; those have a dot.
    if (match.length > LONGEST_ADDRESS || (asSaid && !match.includes('.') && !match.includes('://'))) continue
    const plain = match.replaceAll('&amp;', '&').replace(BEGINS, '')
    for (const form of [plain, plain.replace(ENDS, '')]) {
      const address = readAddress(form)
      if (address !== undefined) found.set(address.key, address)
    }
    if (found.size >= MOST_ADDRESSES) break
  }
  return [...found.values()]
}

/** Returns the addresses in all texts of a value. */
export const addressesInValue = (value: unknown, options?: { asSaid?: boolean }): Address[] =>
  [...textsIn(value)].flatMap((text) => addressesIn(text, options))

/** Returns an address without its last parts, up to its host: what each says is known where the whole is known. */
export function * shorterForms ({ key, host }: Address): Generator<string> {
  yield host
  const path = key.slice(host.length).replace(/\?.*$/s, '')
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield host + path.slice(0, at)
}
