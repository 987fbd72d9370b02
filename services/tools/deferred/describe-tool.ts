import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { brief } from './brief-schema.ts'

type Described = Pick<LanguageModelV4FunctionTool, 'name' | 'description' | 'inputSchema'> & { identity?: string }
const descriptions = new WeakMap<Described, LanguageModelV4FunctionTool>()

/** Returns the description of a tool for models: always the same object, so that its JSON is made once. */
export function describeTool (tool: Described): LanguageModelV4FunctionTool {
  const { name, description, inputSchema, identity } = tool
  const described = descriptions.get(tool) ??
    { type: 'function', name, description, inputSchema: identity === undefined && name !== ANSWER_TOOL ? brief(inputSchema) : inputSchema }
  descriptions.set(tool, described)
  return described
}
