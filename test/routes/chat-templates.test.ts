import t from 'tap'
import { chatTemplateSuite } from '../suites/chat-templates.ts'

// Families whose templates refuse what others take, or leave out tools silently, and two that do neither.
// test/faults/chat-templates.long.ts has all.
const FAMILIES = [
  'Mistral-Small-3.2-24B-Instruct-2506',
  'HuggingFaceTB-SmolLM3-3B',
  'Qwen-Qwen3-0.6B',
  'deepseek-ai-DeepSeek-R1-Distill-Llama-8B',
  'deepseek-ai-DeepSeek-V3.1',
  'google-gemma-2-2b-it',
  'llama-cpp-rwkv-world',
  'meta-llama-Llama-3.1-8B-Instruct',
  'microsoft-Phi-3.5-mini-instruct',
  'mistralai-Ministral-3-14B-Reasoning-2512',
  'mistralai-Mistral-Nemo-Instruct-2407',
  'openai-gpt-oss-120b'
]

for (const isMute of [false, true]) chatTemplateSuite(t, FAMILIES, isMute)
