import { hasText, say } from '../../lib/say.ts'

/** The name of a provider for people; providers of the configuration have the name that they were given there. */
export function providerName (name: string): string {
  const key = `provider.${name}`
  return hasText(key) ? say(key) : name
}

/** The name of a model for people, without its provider, which the lists of the settings name. */
export function modelName (id: string): string {
  if (id === 'offline/scripted') return say('provider.script')
  return id.startsWith('offline/') ? say('provider.offline') : id.slice(id.indexOf('/') + 1)
}
