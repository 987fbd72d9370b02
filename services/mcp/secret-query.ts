import { isSecret, referenceTo, storedAt, toReferences, type Values } from './server-environment.ts'

/** Splits an address into one for config.json, whose secret query parameters are references, and the values that they refer to. */
export function hideQuery (server: string, address: string): { url: string, values: Values } {
  const url = new URL(address)
  const parameters = [...url.searchParams]
  const hidden = parameters.map(([name, value], at) =>
    isSecret(name, value) || storedAt(value) !== undefined ? { at, key: `?${at}.${encodeURIComponent(name)}`, value } : undefined
  ).filter((each) => each !== undefined)
  if (hidden.length === 0) return { url: address, values: {} }
  for (const { at, key } of hidden) parameters[at] = [parameters[at][0], referenceTo(server, key)]
  url.search = new URLSearchParams(parameters).toString()
  return { url: url.href, values: toReferences(server, Object.fromEntries(hidden.map(({ key, value }) => [key, value]))).values }
}

/** Returns the address with the stored values of its query parameters, and these values. Throws an Error for a missing value. */
export function showQuery (address: string, stored: Values): { url: URL, values: Values } {
  const url = new URL(address)
  const values: Values = {}
  const parameters = [...url.searchParams].map(([name, value]): [string, string] => {
    const key = storedAt(value)
    if (key === undefined) return [name, value]
    if (!Object.hasOwn(stored, key)) {
      throw new Error(`nothing is stored for the parameter ${name} of its url; connect it again with POST /mcp/connect`)
    }
    values[name] = stored[key]
    return [name, stored[key]]
  })
  if (Object.keys(values).length > 0) url.search = new URLSearchParams(parameters).toString()
  return { url, values }
}

/** Returns the address without the query parameters that are references. */
export function withoutHidden (address: string): string {
  const url = new URL(address)
  const shown = [...url.searchParams].filter(([, value]) => storedAt(value) === undefined)
  if (shown.length === url.searchParams.size) return address
  url.search = new URLSearchParams(shown).toString()
  return url.href
}
