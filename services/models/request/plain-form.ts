import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from '@ai-sdk/provider'

type Part = LanguageModelV4TextPart | LanguageModelV4FilePart

/**
 * Tells a model that supports no tools how to write a tool call as text, in the form that many models are trained with (Hermes, Qwen). The
 * parsers in services/models/text-calls/ read these calls.
 */
const HOW_TO_CALL = `To call a tool, end your answer with the call as JSON between <tool_call> tags, and write nothing behind it. \
Several calls stand one behind the other, each between tags of its own:
<tool_call>
{"name": <name of the tool>, "arguments": <object of its parameters>}
</tool_call>
The results follow in the next message, between <tool_response> tags, which the user does not write. Never write results yourself.`

type Tools = NonNullable<LanguageModelV4CallOptions['tools']>
/** Descriptions of a run's tools as text. They are kept because the tools are the same in all steps. */
const described = new WeakMap<Tools, string>()

function describeTools (tools: Tools): string {
  const known = described.get(tools)
  if (known !== undefined) return known
  const lines = tools.flatMap((tool) =>
    tool.type === 'function'
      ? [JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.inputSchema })]
      : [])
  const text = `You can call tools. They are described between the <tools> tags, one a line:\n<tools>\n${lines.join('\n')}\n</tools>\n` +
    HOW_TO_CALL
  described.set(tools, text)
  return text
}

const textPart = (text: string): LanguageModelV4TextPart => ({ type: 'text', text })

/**
 * Returns JSON with `<` escaped, so that it contains no tag. The result of a tool is data, and can hold tags and the tokens of chat
 * templates.
 */
const asData = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c')

/** Returns the options with tools, calls and results as text, for models whose server or chat template does not support them. */
export function withToolsInWords<T extends LanguageModelV4CallOptions> ({ tools = [], toolChoice: _choice, ...options }: T): T {
  const prompt = options.prompt.map(callsInWords)
  // The tools stand behind the first system message, which changes least often.
  const at = prompt[0]?.role === 'system' ? 1 : 0
  const told: LanguageModelV4Prompt = tools.length > 0 ? [{ role: 'system', content: describeTools(tools) }] : []
  return { ...options, prompt: prompt.toSpliced(at, 0, ...told) } as unknown as T
}

function callsInWords (message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === 'tool') {
    return { role: 'user', content: message.content.flatMap((part) => part.type === 'tool-result' ? resultInWords(part) : []) }
  }
  if (message.role !== 'assistant') return message
  const text = message.content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type !== 'tool-call') return ''
    return `<tool_call>\n${JSON.stringify({ name: part.toolName, arguments: part.input })}\n</tool_call>`
  }).filter((each) => each !== '').join('\n')
  return { role: 'assistant', content: [textPart(text)] }
}

function resultInWords ({ toolName: name, output }: LanguageModelV4ToolResultPart): Part[] {
  const pictures = output.type === 'content'
    ? output.value.flatMap((part): Part[] => part.type === 'file' ? [{ type: 'file', mediaType: part.mediaType, data: part.data }] : [])
    : []
  return [textPart(`<tool_response>\n${asData({ name, ...contentOf(output) })}\n</tool_response>`), ...pictures]
}

function contentOf (output: LanguageModelV4ToolResultOutput): object {
  switch (output.type) {
    case 'text':
    case 'json':
      return { content: output.value }
    case 'error-text':
    case 'error-json':
      return { error: output.value }
    case 'execution-denied':
      return { denied: output.reason ?? 'The user denied this call.' }
    case 'content':
      return { content: output.value.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n') }
  }
}
