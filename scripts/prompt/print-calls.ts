import type { RecordedCall } from './record.ts'

type Json = Record<string, any>

/** Renders calls as text. Tools and leading messages that an earlier call had are referred to instead of repeated. */
export function printCalls (calls: readonly RecordedCall[], { schemas }: { schemas: boolean }): string {
  const earlier: Array<{ tools: string, messages: string[] }> = []
  return calls.map(({ title, options: { tools: given = [], prompt, ...settings } }, at) => {
    const tools = toolsText(given, schemas)
    const messages: string[] = prompt.map(messageText)
    const knownTools = earlier.findIndex((call) => call.tools === tools) + 1
    const known = Math.max(0, ...earlier.map((call) => commonLength(messages, call.messages)))
    earlier.push({ tools, messages })
    return [
      `${'='.repeat(100)}\nCall ${at + 1}, ${title}, about ${tokensOf([given, prompt])} tokens`,
      `options: ${JSON.stringify(settings)}`,
      ...given.length === 0 ? [] : [knownTools === 0 ? tools : `[the tools of call ${knownTools}]`],
      ...known === 0 ? [] : [`[the first ${known} messages of an earlier call]`],
      ...messages.slice(known)
    ].join('\n\n')
  }).join('\n\n')
}

/** Returns the number of leading messages that two calls share. */
function commonLength (messages: string[], others: string[]): number {
  const differs = messages.findIndex((message, n) => message !== others[n])
  return differs === -1 ? messages.length : differs
}

const tokensOf = (value: unknown) => Math.round(JSON.stringify(value).length / 4).toLocaleString('en')

const toolsText = (tools: Json[], schemas: boolean): string =>
  tools.map(({ name, description, inputSchema }) =>
    `--- tool ${name}\n${description}${schemas ? `\n${JSON.stringify(inputSchema)}` : ''}`
  ).join('\n')

const messageText = ({ role, content }: Json): string =>
  `--- ${role}\n${typeof content === 'string' ? content : content.map(partText).join('\n\n')}`

function partText (part: Json): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'tool-call':
      return `[call of ${part.toolName}: ${JSON.stringify(part.input)}]`
    case 'tool-result':
      return `[result of ${part.toolName}: ${JSON.stringify(part.output.value ?? part.output)}]`
    default:
      return `[${part.type}]`
  }
}
