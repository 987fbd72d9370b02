/** The end of a copied address that the service appends itself. */
const ENDPOINT = /\/(?:chat\/completions|completions|responses|models|embeddings)\/?$/
const OWN_HOST = /^(?:localhost|[^.:/]+|\[[\da-f:]+\]|(?:127|10|192\.168)\.[\d.]+)(?=[:/]|$)/i
const IP = /^[\d.]+$|^\[/

/** Returns the `baseURL` for a typed address; undefined if the text is no address. */
export function readAddress (typed: string): string | undefined {
  const text = typed.trim()
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${OWN_HOST.test(text) ? 'http' : 'https'}://${text}`
  if (!/^https?:/i.test(whole) || !URL.canParse(whole) || /\s/.test(text)) return undefined
  const { origin, pathname } = new URL(whole)
  return `${origin}${pathname.replace(ENDPOINT, '').replace(/\/+$/, '')}`
}

/** Returns a name for the provider at an address, such as groq for https://api.groq.com/openai/v1. */
export function nameOf (baseURL: string): string {
  const { hostname, port } = new URL(baseURL)
  const host = hostname.replace(/[[\]]/g, '').replaceAll(':', '-')
  if (IP.test(hostname) || !host.includes('.')) return [host, port].filter(Boolean).join('-')
  return host.split('.').at(-2)!
}
