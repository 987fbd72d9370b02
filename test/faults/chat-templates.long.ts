import t from 'tap'
import { TEMPLATES } from '../fakes/template-server.ts'
import { chatTemplateSuite } from '../suites/chat-templates.ts'

/** Templates that `@huggingface/jinja` cannot render. */
const NOT_IN_NODE = new Set([
  'ByteDance-Seed-OSS',
  'CohereForAI-c4ai-command-r-plus-tool_use',
  'NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use',
  'NousResearch-Hermes-3-Llama-3.1-8B-tool_use',
  'fireworks-ai-llama-3-firefunction-v2',
  'meetkai-functionary-medium-v3.1',
  'tencent-Hy3',
  'unsloth-Apriel-1.5'
])
const names = TEMPLATES.filter((name) => !NOT_IN_NODE.has(name))

t.equal(names.length, 63)
for (const isMute of [false, true]) chatTemplateSuite(t, names, isMute)
