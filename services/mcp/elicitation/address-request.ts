import type { Json } from './form-types.ts'
import { quoted, whoAsks, type Form } from './form.ts'
import { FormRefused } from './form-refused.ts'

const LONGEST_ADDRESS = 1_000
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Returns an address that a server wants the user to open, in the form that browsers show. Throws FormRefused unless it is https, or
 * http on this computer, without a name and password, which could pass for another host.
 */
export function checkAddress (address: unknown): string {
  const url = typeof address === 'string' && address.length <= LONGEST_ADDRESS && URL.canParse(address) ? new URL(address) : undefined
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  if (url === undefined || !isAllowed || url.username !== '' || url.password !== '' || url.href.length > LONGEST_ADDRESS) {
    throw new FormRefused('its address is not one that is shown: https, or http on this computer, without a password')
  }
  return url.href
}

/** Reads the parameters of `elicitation/create` in URL mode. The service never opens the address. Throws FormRefused. */
export function readAddressRequest (server: string, { message, url }: Json): Form & { url: string } {
  const href = checkAddress(url)
  const warning = `Open the address only if you trust that server and the host ${new URL(href).host}.`
  return {
    url: href,
    questions: [{
      id: 'opened',
      text: `${whoAsks(server)} ${warning}\n${quoted(message)}\n${href}`,
      options: [{ value: 'yes', label: 'I open it' }],
      required: true
    }],
    check: () => [],
    content: () => ({ action: 'accept' })
  }
}

const MOST_SHOWN = 5

/** Returns the text for the model of the error that a server gives when the user must open addresses before a call works. */
export function addressesRequired (data: unknown): string {
  const listed = (data as { elicitations?: unknown } | undefined)?.elicitations
  const shown = (Array.isArray(listed) ? listed.slice(0, MOST_SHOWN) : []).flatMap((each) => {
    try {
      const { url, message } = each as Json
      return [`${checkAddress(url)} ${quoted(message)}`]
    } catch {
      return []
    }
  })
  return shown.length === 0
    ? 'The tool server wants the user to open an address first, and named none that can be shown.'
    : `The tool server wants the user to open an address first, then the call works. Tell the user. Its words: ${shown.join(', ')}`
}
