import { hasText, say } from '../../lib/say.ts'

/** Returns the display name of a provider. A provider from the configuration keeps its name from there. */
export function providerName (name: string): string {
  const key = `provider.${name}`
  return hasText(key) ? say(key) : name
}

/** Returns the display name of a model without its provider. */
export function modelName (id: string): string {
  if (id === 'offline/scripted') return say('provider.script')
  return id.startsWith('offline/') ? say('provider.offline') : id.slice(id.indexOf('/') + 1)
}
