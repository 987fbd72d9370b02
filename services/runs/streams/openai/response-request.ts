import type { ChatCompletionBody, ChatMessage } from '../../../../schemas/openai.ts'
import type { ResponseBody, ResponseInputItem } from '../../../../schemas/responses.ts'
import { type FieldNames, RESPONSE_FIELDS } from './chat-fields.ts'
import { refuse } from './chat-request.ts'

/** A request that was converted to OpenAI's chat completions API, with the original names of its fields. */
export interface AsChat {
  body: ChatCompletionBody
  fields?: FieldNames
}

const WHOLE = 'nothing is kept between two requests here. Send the whole conversation as "input".'

/**
 * Converts a request of OpenAI's responses API to one of its chat completions API. Throws BadField (400) for fields that need state that
 * this service does not keep, and for unknown kinds of input and tools.
 */
export function asChat (wanted: ResponseBody): AsChat {
  if (wanted.previous_response_id != null) refuse('previous_response_id', `cannot be used: ${WHOLE}`)
  if (wanted.conversation != null) refuse('conversation', `cannot be used: ${WHOLE}`)
  if (wanted.prompt != null) refuse('prompt', 'cannot be used: there are no stored prompts here. Send "instructions" and "input".')
  if (wanted.background) refuse('background', 'must be false: the answer comes with the response.')
  const { messages, places } = readInput(wanted)
  if (messages.length === 0) refuse('input', 'is missing: send a text, or the items of the conversation.')
  return {
    body: {
      model: wanted.model,
      messages,
      stream: wanted.stream,
      stream_options: { include_usage: true },
      tools: wanted.tools?.map(({ type, name, description, parameters }, at) =>
        type === 'function'
          ? { type, function: { name: name ?? refuse(`tools[${at}].name`, 'is missing.'), description, parameters } }
          : refuse(`tools[${at}].type`, 'must be "function": tools that OpenAI executes cannot be used here.')),
      tool_choice: choiceOf(wanted.tool_choice),
      parallel_tool_calls: wanted.parallel_tool_calls,
      response_format: formatOf(wanted.text),
      max_completion_tokens: wanted.max_output_tokens,
      reasoning_effort: wanted.reasoning?.effort,
      cwd: wanted.cwd
    },
    fields: { ...RESPONSE_FIELDS, message: (n) => places[n] }
  }
}

function choiceOf (choice: ResponseBody['tool_choice']): ChatCompletionBody['tool_choice'] {
  if (choice == null || typeof choice === 'string') return choice
  const { type, name, mode, tools = [] } = choice
  const functionOf = (each: { name?: string }) => ({ name: each.name ?? refuse('tool_choice.name', 'is missing.') })
  if (type === 'function') return { type, function: functionOf({ name }) }
  return { type, allowed_tools: { mode, tools: tools.map((each) => ({ type: each.type, function: functionOf(each) })) } }
}

function formatOf (text: ResponseBody['text']): ChatCompletionBody['response_format'] {
  const { format } = text ?? {}
  if (format == null) return undefined
  return { type: format.type, json_schema: format.schema === undefined ? undefined : { schema: format.schema } }
}

/**
 * The types of items about OpenAI's own tools in earlier answers, such as `web_search_call`. These items are left out, because this service
 * did not make them.
 */
const OTHERS = /^(?:\w+_call(?:_output)?|mcp_\w+)$/

/**
 * Returns the messages of the input and, for each message, the name of the field that it was made from. The calls of one answer become one
 * message.
 */
function readInput ({ instructions, input = [] }: ResponseBody): { messages: ChatMessage[], places: string[] } {
  const messages: ChatMessage[] = []
  const places: string[] = []
  const add = (message: ChatMessage, place: string) => {
    messages.push(message)
    places.push(place)
  }
  if (instructions) add({ role: 'developer', content: instructions }, 'instructions')
  if (typeof input === 'string') {
    add({ role: 'user', content: input }, 'input')
    return { messages, places }
  }
  for (const [at, item] of input.entries()) {
    const place = `input[${at}]`
    switch (item.type ?? 'message') {
      case 'message':
        add({ role: item.role ?? refuse(`${place}.role`, 'is missing.'), content: contentOf(item.content, place) }, place)
        break
      case 'function_call': {
        const call = callOf(item, place)
        const last = messages.at(-1)
        if (last?.role === 'assistant') last.tool_calls = [...last.tool_calls ?? [], call]
        else add({ role: 'assistant', content: null, tool_calls: [call] }, place)
        break
      }
      case 'function_call_output':
        add({
          role: 'tool',
          tool_call_id: item.call_id ?? refuse(`${place}.call_id`, 'is missing.'),
          content: contentOf(item.output, place)
        }, place)
        break
      case 'reasoning':
        // The reasoning of earlier answers, which clients send back, is left out.
        break
      case 'item_reference':
        refuse(place, `names an item by its id, but ${WHOLE} Clients do so with "store": false.`)
        break
      default:
        if (!OTHERS.test(item.type!)) refuse(`${place}.type`, 'must be message, function_call, function_call_output or reasoning.')
    }
  }
  return { messages, places }
}

const callOf = ({ call_id: id, name, arguments: text = '{}' }: ResponseInputItem, place: string) => ({
  id: id ?? refuse(`${place}.call_id`, 'is missing.'),
  function: { name: name ?? refuse(`${place}.name`, 'is missing.'), arguments: text }
})

/** Converts content to the parts of the chat completions API. */
function contentOf (content: ResponseInputItem['content'], place: string): ChatMessage['content'] {
  if (!Array.isArray(content)) return content
  return content.map((part, at) => {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return { type: 'text', text: part.text }
      case 'refusal':
        return { type: 'refusal', refusal: part.refusal }
      case 'input_image':
        if (part.image_url == null) refuse(`${place}.content[${at}].image_url`, 'is missing: files of OpenAI cannot be used here.')
        return { type: 'image_url', image_url: { url: part.image_url } }
      case 'input_file':
        if (part.file_data == null) refuse(`${place}.content[${at}].file_data`, 'is missing: files of OpenAI cannot be used here.')
        return { type: 'file', file: { file_data: part.file_data, filename: part.filename } }
      case 'input_audio':
        return part
      default:
        return refuse(`${place}.content[${at}].type`, 'must be input_text, input_image, input_file, output_text or refusal.')
    }
  })
}
