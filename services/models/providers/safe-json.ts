const SUSPECT = /__proto__|constructor|\\u00/

/**
 * Parses JSON as the AI SDK does. Throws a SyntaxError if the text is not JSON, or if an object in it has a key that would change a
 * prototype when it is copied.
 */
export function parseSafely (text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (SUSPECT.test(text)) refusePrototypes(value)
  return value
}

function refusePrototypes (value: unknown) {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    const isObject = typeof inner === 'object' && inner !== null
    if (key === '__proto__' || (key === 'constructor' && isObject && Object.hasOwn(inner, 'prototype'))) throw new SyntaxError('prototype')
    refusePrototypes(inner)
  }
}
