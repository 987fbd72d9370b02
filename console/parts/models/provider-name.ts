import { hasText, say } from '../../lib/say.ts'

/** The name of a provider for people; providers of the configuration have the name that they were given there. */
export function providerName (name: string): string {
  const key = `provider.${name}`
  return hasText(key) ? say(key) : name
}
