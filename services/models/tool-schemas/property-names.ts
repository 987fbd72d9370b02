import { inLatin } from '../../lib/in-latin.ts'
import type { Wire } from './keywords.ts'

/**
 * The rules for property names. Anthropic says in its refusals "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'". Google says:
 * "must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores with a maximum length of 64"
 * (FunctionDeclaration.parameters in the reference of Vertex AI). OpenAI documents no rule. Anthropic's rule applies to all but Google: a
 * server behind a gateway or at an unknown address may be Anthropic's.
 */
const ANY_BUT_GOOGLE = /^[a-zA-Z0-9_.-]{1,64}$/
const EVERYWHERE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const LONGEST = 64

/** The name of a property for a provider. `isReadable` is true if the original name lost nothing but punctuation. */
interface GivenName {
  given: string
  isReadable: boolean
}

/**
 * Returns the names under which a provider gets the properties of an object, by the original names. A name that the provider accepts is
 * kept. A changed name is the same for every provider, so that an input with such a name can be read no matter which provider it came from.
 */
export function givenNames (names: readonly string[], wire: Wire): Map<string, GivenName> {
  const rule = wire === 'google' ? EVERYWHERE : ANY_BUT_GOOGLE
  const taken = new Set(names)
  const given = new Map<string, GivenName>()
  for (const name of names) {
    if (EVERYWHERE.test(name)) {
      given.set(name, { given: name, isReadable: true })
      continue
    }
    const plain = plainName(name)
    let free = plain.text
    for (let n = 2; taken.has(free); n++) free = `${plain.text.slice(0, LONGEST - String(n).length - 1)}_${n}`
    taken.add(free)
    given.set(name, rule.test(name) ? { given: name, isReadable: true } : { given: free, isReadable: plain.isWhole })
  }
  return given
}

/** Returns the name in characters that every provider accepts. `isWhole` is true if the name lost nothing but punctuation. */
function plainName (name: string): { text: string, isWhole: boolean } {
  const latin = inLatin(name)
  const text = latin.text.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  const isWhole = text !== '' && latin.isWhole && text.length <= LONGEST
  const begun = /^\d/.test(text) ? `_${text}` : text
  return { text: (begun || 'field').slice(0, LONGEST), isWhole }
}
