import { tmpdir } from 'node:os'
import type { LanguageModelV4Prompt, LanguageModelV4ToolCall, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { systemClock } from '../../../../../services/lib/clock.ts'
import { build } from '../../../tools/helper.ts'
import { createOfflineProvider } from '../../../../../services/models/providers/offline/index.ts'

const { host } = build({ workspace: tmpdir() })
export const offline = createOfflineProvider({
  clock: systemClock,
  script: () => undefined,
  toolOf: host.find
})
const ALL = [
  'listDirectory',
  'readFile',
  'writeFile',
  'deleteFile',
  'runCommand',
  'fetchUrl',
  'webSearch',
  'systemInfo',
  'screenshot',
  'click',
  'type',
  'scroll',
  'remember',
  'forget'
]

/** Plays the agent's loop with the offline assistant: results come from `serve`, until it answers in words. */
export async function converse (
  message: string,
  serve: (call: { toolName: string, input: any }) => LanguageModelV4ToolResultOutput,
  { tools = ALL, before = [] as LanguageModelV4Prompt } = {}
) {
  const model = await offline.languageModel('assistant')
  const prompt: LanguageModelV4Prompt = [...before, { role: 'user', content: [{ type: 'text', text: message }] }]
  const calls: Array<{ toolName: string, input: any }> = []
  const ids: string[] = []
  for (let step = 0; step < 20; step++) {
    const { content } = await model.doGenerate({ prompt, tools: tools.map((name) => ({ type: 'function', name, inputSchema: {} })) })
    const made = content.filter((part): part is LanguageModelV4ToolCall => part.type === 'tool-call')
    const text = content.map((part) => part.type === 'text' ? part.text : '').join('')
    prompt.push({
      role: 'assistant',
      content: [...text ? [{ type: 'text' as const, text }] : [], ...made.map((call) => ({ ...call, input: JSON.parse(call.input) }))]
    })
    if (made.length === 0) return { calls, ids, text, prompt }
    for (const { toolCallId, toolName, input } of made) {
      const call = { toolName, input: JSON.parse(input) }
      calls.push(call)
      ids.push(toolCallId)
      prompt.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: serve(call) }] })
    }
  }
  throw new Error('The assistant never came to an end')
}

export const json = (value: any): LanguageModelV4ToolResultOutput => ({ type: 'json', value })
