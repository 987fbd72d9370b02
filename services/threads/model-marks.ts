import type { ThreadMessage } from './thread-message.ts'

/** The fields of parts that contain provider metadata. */
const ATTACHED = ['providerMetadata', 'callProviderMetadata', 'resultProviderMetadata', 'providerOptions']

/** Returns the message without its model marks. Only the stored copy of a message proves which model made a part. */
export function withoutModelMarks (message: ThreadMessage): ThreadMessage {
  const field = message.parts === undefined ? 'content' : 'parts'
  const parts = message[field]
  if (message.role === 'user' || !Array.isArray(parts)) return message
  const isMarked = (part: any, name: string) => part?.[name]?.agent?.model !== undefined
  if (!parts.some((part) => ATTACHED.some((name) => isMarked(part, name)))) return message
  return {
    ...message,
    [field]: parts.map((part) => {
      const names = ATTACHED.filter((name) => isMarked(part, name))
      return names.length === 0 ? part : { ...part, ...Object.fromEntries(names.map((name) => [name, withoutModel(part[name])])) }
    })
  }
}

function withoutModel ({ agent: { model, ...agent }, ...attached }: Record<string, any>): object {
  return { ...attached, ...(Object.keys(agent).length > 0 && { agent }) }
}
