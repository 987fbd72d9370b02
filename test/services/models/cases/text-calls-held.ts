// Cases that are not read while the code is written: a test runs them, and what fails is mended by kind.
// Tool calls that models write into their answers, in the forms that their makers and the servers for them document.

export interface TextCallCase {
  dialect: string
  kind: 'alone' | 'after-prose' | 'template-tokens' | 'cut-off' | 'twice' | 'quoted' | 'two-calls'
  /** The whole text of the answer. */
  text: string
  /** The page or file that shows the form. */
  source: string
  /** The tools that the run offers: names of `textCallTools`. */
  tools: string[]
  /**
   * `calls`: these run, in this order. `quoted`: the text stays text and nothing runs. `unreadable`: nothing runs, and the model is asked
   * once more. Whole arguments whose closing tag is missing are a call: servers strip closing tags that are special tokens.
   */
  expect: { calls: Array<{ name: string, input: Record<string, unknown> }> } | { quoted: true } | { unreadable: true }
}

const text = { type: 'string' }

/** The parameters of the tools that runs in these cases offer. */
export const textCallTools: Record<string, { type: 'object', properties: Record<string, object>, required: string[] }> = {
  readFile: { type: 'object', properties: { path: text }, required: ['path'] },
  writeFile: { type: 'object', properties: { path: text, content: text }, required: ['path', 'content'] },
  searchFiles: { type: 'object', properties: { pattern: text, path: text, maxResults: { type: 'integer' } }, required: ['pattern'] },
  listDirectory: { type: 'object', properties: { path: text }, required: [] },
  runCommand: { type: 'object', properties: { command: text, background: { type: 'boolean' } }, required: ['command'] },
  addEntry: { type: 'object', properties: { title: text, tags: { type: 'array', items: text }, amount: { type: 'number' } }, required: ['title'] }
}

const all = ['readFile', 'writeFile', 'searchFiles', 'listDirectory', 'runCommand', 'addEntry']
const notes = { calls: [{ name: 'readFile', input: { path: 'notes.txt' } }] }
const list = { calls: [{ name: 'runCommand', input: { command: 'ls -la' } }] }
const both = { calls: [{ name: 'readFile', input: { path: 'a.txt' } }, { name: 'readFile', input: { path: 'b.txt' } }] }

const HERMES = 'vllm-project/vllm tests/tool_use/test_hermes_tool_parser.py; model card of NousResearch/Hermes-3-Llama-3.1-8B'
const QWEN_CODER = 'vllm-project/vllm tests/tool_use/test_qwen3coder_tool_parser.py; model card of Qwen/Qwen3-Coder-30B-A3B-Instruct'
const MISTRAL = 'vllm-project/vllm tests/tool_use/test_mistral_tool_parser.py'
const LLAMA = 'meta-llama/llama-models models/llama3_1/prompt_format.md; vllm-project/vllm docs/features/tool_calling.md (llama3_json)'
const PYTHON_TAG = 'meta-llama/llama-models models/llama3_1/prompt_format.md; ggml-org/llama.cpp tests/test-chat.cpp'
const PYTHONIC = 'meta-llama/llama-models models/llama4/prompt_format.md; vllm-project/vllm docs/features/tool_calling.md (pythonic)'
const GEMMA = 'ai.google.dev/gemma/docs/capabilities/function-calling'
const PHI = 'model card of microsoft/Phi-4-mini-instruct; vllm-project/vllm tool parser phi4_mini_json'
const DEEPSEEK = 'model card of deepseek-ai/DeepSeek-V3-0324; vllm-project/vllm tool parser deepseek_v3; ggml-org/llama.cpp tests/test-chat.cpp'
const DEEPSEEK_31 = 'model card of deepseek-ai/DeepSeek-V3.1; vllm-project/vllm tests/tool_use/test_deepseekv31_tool_parser.py'
const GLM = 'vllm-project/vllm tests/tool_use/test_glm4_moe_tool_parser.py; model card of zai-org/GLM-4.5'
const GRANITE = 'vllm-project/vllm docs/features/tool_calling.md (granite, granite4); model card of ibm-granite/granite-3.1-8b-instruct'
const KIMI = 'vllm-project/vllm tests/tool_use/test_kimi_k2_tool_parser.py; MoonshotAI/Kimi-K2 docs/tool_call_guidance.md'
const HARMONY = 'openai/harmony docs/format.md; ggml-org/llama.cpp tests/test-chat.cpp'
const REACT = 'langchain-ai/langchain ReAct output parser; QwenLM/Qwen examples/react_prompt.md'

export const textCallsHeld: TextCallCase[] = [
  // Hermes and Qwen 2.5, 3
  { dialect: 'hermes', kind: 'alone', tools: all, source: HERMES, text: '<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call>', expect: notes },
  { dialect: 'hermes', kind: 'alone', tools: all, source: HERMES, text: '<tool_call>{"arguments": {"command": "ls -la"}, "name": "runCommand"}</tool_call>', expect: list },
  { dialect: 'hermes', kind: 'after-prose', tools: all, source: HERMES, text: 'I will read the file first.\n\n<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call>\n', expect: notes },
  { dialect: 'hermes', kind: 'after-prose', tools: all, source: HERMES, text: '<think>\nThe file may be called `notes.txt`.\n</think>\n\n<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call>', expect: notes },
  { dialect: 'hermes', kind: 'template-tokens', tools: all, source: HERMES, text: '<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call><|im_end|>', expect: notes },
  { dialect: 'hermes', kind: 'template-tokens', tools: all, source: HERMES, text: '<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\nCall the plumber.\n</tool_response><|im_end|>\n', expect: notes },
  { dialect: 'hermes', kind: 'cut-off', tools: all, source: HERMES, text: '<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'hermes', kind: 'cut-off', tools: all, source: HERMES, text: '<tool_call>\n{"name": "writeFile", "arguments": {"path": "a.txt", "content": "one two', expect: { unreadable: true } },
  { dialect: 'hermes', kind: 'twice', tools: all, source: HERMES, text: '<tool_call>\n{"name": "runCommand", "arguments": {"command": "ls -la"}}\n</tool_call>\n<tool_call>\n{"name": "runCommand", "arguments": {"command": "ls -la"}}\n</tool_call>', expect: list },
  { dialect: 'hermes', kind: 'quoted', tools: all, source: HERMES, text: 'A call looks like `<tool_call>{"name": "readFile", "arguments": {"path": "notes.txt"}}</tool_call>`', expect: { quoted: true } },
  { dialect: 'hermes', kind: 'quoted', tools: all, source: HERMES, text: 'Hermes models write this:\n\n```xml\n<tool_call>\n{"name": "readFile", "arguments": {"path": "notes.txt"}}\n</tool_call>\n```', expect: { quoted: true } },
  { dialect: 'hermes', kind: 'quoted', tools: all, source: HERMES, text: '<tool_call>\n{"name": "runCommand", "arguments": {"command": "rm -r build"}}\n</tool_call>\n\nThe lines above are the format that the documentation shows.', expect: { quoted: true } },
  { dialect: 'hermes', kind: 'two-calls', tools: all, source: HERMES, text: '<tool_call>\n{"name": "readFile", "arguments": {"path": "a.txt"}}\n</tool_call>\n<tool_call>\n{"name": "readFile", "arguments": {"path": "b.txt"}}\n</tool_call>', expect: both },
  // Qwen3-Coder
  { dialect: 'qwen3-coder', kind: 'alone', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=readFile>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>\n</tool_call>', expect: notes },
  { dialect: 'qwen3-coder', kind: 'alone', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=writeFile>\n<parameter=path>\nsrc/if.ts\n</parameter>\n<parameter=content>\nif (a < b && b > c) {\n  run("<x>")\n}\n</parameter>\n</function>\n</tool_call>', expect: { calls: [{ name: 'writeFile', input: { path: 'src/if.ts', content: 'if (a < b && b > c) {\n  run("<x>")\n}' } }] } },
  { dialect: 'qwen3-coder', kind: 'after-prose', tools: all, source: QWEN_CODER, text: 'Let me look for it.\n<tool_call>\n<function=searchFiles>\n<parameter=pattern>\nTODO\n</parameter>\n<parameter=maxResults>\n20\n</parameter>\n</function>\n</tool_call>', expect: { calls: [{ name: 'searchFiles', input: { pattern: 'TODO', maxResults: 20 } }] } },
  { dialect: 'qwen3-coder', kind: 'template-tokens', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=runCommand>\n<parameter=command>\nls -la\n</parameter>\n</function>\n</tool_call><|im_end|>\n<|endoftext|>', expect: list },
  { dialect: 'qwen3-coder', kind: 'cut-off', tools: all, source: QWEN_CODER, text: '<function=readFile>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>\n</tool_call>', expect: notes },
  { dialect: 'qwen3-coder', kind: 'cut-off', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=writeFile>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nfirst line', expect: { unreadable: true } },
  { dialect: 'qwen3-coder', kind: 'twice', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=readFile>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=readFile>\n<parameter=path>\nnotes.txt\n</parameter>\n</function>\n</tool_call>', expect: notes },
  { dialect: 'qwen3-coder', kind: 'quoted', tools: all, source: QWEN_CODER, text: '> <tool_call>\n> <function=readFile>\n> <parameter=path>\n> notes.txt\n> </parameter>\n> </function>\n> </tool_call>', expect: { quoted: true } },
  { dialect: 'qwen3-coder', kind: 'two-calls', tools: all, source: QWEN_CODER, text: '<tool_call>\n<function=readFile>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=readFile>\n<parameter=path>\nb.txt\n</parameter>\n</function>\n</tool_call>', expect: both },
  // Mistral, both forms
  { dialect: 'mistral', kind: 'alone', tools: all, source: MISTRAL, text: '[TOOL_CALLS] [{"name": "readFile", "arguments": {"path": "notes.txt"}, "id": "VvvODy9mT"}]', expect: notes },
  { dialect: 'mistral', kind: 'alone', tools: all, source: MISTRAL, text: '[TOOL_CALLS]readFile[ARGS]{"path": "notes.txt"}', expect: notes },
  { dialect: 'mistral', kind: 'alone', tools: all, source: MISTRAL, text: '[TOOL_CALLS]readFile{"path": "notes.txt"}', expect: notes },
  { dialect: 'mistral', kind: 'alone', tools: all, source: 'ggml-org/llama.cpp tests/test-chat.cpp (Mistral Small 3.2 template)', text: '[TOOL_CALLS]readFile[CALL_ID]a1b2c3d4e[ARGS]{"path": "notes.txt"}', expect: notes },
  { dialect: 'mistral', kind: 'after-prose', tools: all, source: MISTRAL, text: 'I need to see the folder.[TOOL_CALLS]runCommand[ARGS]{"command": "ls -la"}', expect: list },
  { dialect: 'mistral', kind: 'after-prose', tools: all, source: MISTRAL, text: '[THINK]They want the notes.[/THINK][TOOL_CALLS][{"name":"readFile","arguments":{"path":"notes.txt"}}]', expect: notes },
  { dialect: 'mistral', kind: 'template-tokens', tools: all, source: MISTRAL, text: '[TOOL_CALLS][{"name":"readFile","arguments":{"path":"notes.txt"}}]</s>', expect: notes },
  { dialect: 'mistral', kind: 'cut-off', tools: all, source: MISTRAL, text: '[TOOL_CALLS][{"name":"writeFile","arguments":{"path":"a.txt","cont', expect: { unreadable: true } },
  { dialect: 'mistral', kind: 'twice', tools: all, source: MISTRAL, text: '[TOOL_CALLS][{"name":"runCommand","arguments":{"command":"ls -la"},"id":"aaaaaaaaa"},{"name":"runCommand","arguments":{"command":"ls -la"},"id":"aaaaaaaaa"}]', expect: list },
  { dialect: 'mistral', kind: 'quoted', tools: all, source: MISTRAL, text: 'Mistral writes `[TOOL_CALLS]readFile[ARGS]{"path": "notes.txt"}`', expect: { quoted: true } },
  { dialect: 'mistral', kind: 'two-calls', tools: all, source: MISTRAL, text: '[TOOL_CALLS]readFile[ARGS]{"path": "a.txt"}[TOOL_CALLS]readFile[ARGS]{"path": "b.txt"}', expect: both },
  { dialect: 'mistral', kind: 'two-calls', tools: all, source: MISTRAL, text: '[TOOL_CALLS] [{"name": "readFile", "arguments": {"path": "a.txt"}}, {"name": "readFile", "arguments": {"path": "b.txt"}}]', expect: both },
  // Llama 3.x JSON
  { dialect: 'llama-json', kind: 'alone', tools: all, source: LLAMA, text: '{"name": "readFile", "parameters": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'llama-json', kind: 'alone', tools: all, source: LLAMA, text: '{"type": "function", "name": "readFile", "parameters": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'llama-json', kind: 'alone', tools: all, source: LLAMA, text: '{"type":"function","function":{"name":"runCommand","parameters":{"command":"ls -la"}}}', expect: list },
  { dialect: 'llama-json', kind: 'alone', tools: all, source: LLAMA, text: '<function=readFile>{"path": "notes.txt"}</function>', expect: notes },
  { dialect: 'llama-json', kind: 'alone', tools: all, source: LLAMA, text: '{"name": "addEntry", "parameters": {"title": "tea", "tags": "[\\"shop\\", \\"food\\"]", "amount": "3"}}', expect: { calls: [{ name: 'addEntry', input: { title: 'tea', tags: ['shop', 'food'], amount: 3 } }] } },
  { dialect: 'llama-json', kind: 'after-prose', tools: all, source: LLAMA, text: 'To answer that, I have to open the file.\n\n{"name": "readFile", "parameters": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'llama-json', kind: 'template-tokens', tools: all, source: LLAMA, text: '{"name": "readFile", "parameters": {"path": "notes.txt"}}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n', expect: notes },
  { dialect: 'llama-json', kind: 'template-tokens', tools: all, source: LLAMA, text: '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "readFile", "parameters": {"path": "notes.txt"}}<|eom_id|>', expect: notes },
  { dialect: 'llama-json', kind: 'cut-off', tools: all, source: LLAMA, text: '{"name": "writeFile", "parameters": {"path": "a.txt", "content": "# Ti', expect: { unreadable: true } },
  { dialect: 'llama-json', kind: 'twice', tools: all, source: LLAMA, text: '{"name": "readFile", "parameters": {"path": "notes.txt"}}\n{"name": "readFile", "parameters": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'llama-json', kind: 'quoted', tools: all, source: LLAMA, text: 'Write {"name": "readFile", "parameters": {"path": "notes.txt"}} to call the tool, and wait for its result.', expect: { quoted: true } },
  { dialect: 'llama-json', kind: 'quoted', tools: all, source: LLAMA, text: 'An example:\n\n````json\n{"name": "readFile", "parameters": {"path": "notes.txt"}}\n````', expect: { quoted: true } },
  { dialect: 'llama-json', kind: 'two-calls', tools: all, source: LLAMA, text: '{"name": "readFile", "parameters": {"path": "a.txt"}}; {"name": "readFile", "parameters": {"path": "b.txt"}}', expect: both },
  // python tag
  { dialect: 'python-tag', kind: 'alone', tools: all, source: PYTHON_TAG, text: '<|python_tag|>{"name": "readFile", "parameters": {"path": "notes.txt"}}', expect: notes },
  { dialect: 'python-tag', kind: 'alone', tools: all, source: PYTHON_TAG, text: '<|python_tag|>readFile.call(path="notes.txt")', expect: notes },
  { dialect: 'python-tag', kind: 'after-prose', tools: all, source: PYTHON_TAG, text: 'Sure.\n<|python_tag|>{"type": "function", "name": "runCommand", "parameters": {"command": "ls -la"}}', expect: list },
  { dialect: 'python-tag', kind: 'template-tokens', tools: all, source: PYTHON_TAG, text: '<|python_tag|>{"name": "readFile", "parameters": {"path": "notes.txt"}}<|eom_id|>', expect: notes },
  { dialect: 'python-tag', kind: 'cut-off', tools: all, source: PYTHON_TAG, text: '<|python_tag|>{"name": "readFile", "para', expect: { unreadable: true } },
  { dialect: 'python-tag', kind: 'quoted', tools: all, source: PYTHON_TAG, text: 'Llama begins a call with `<|python_tag|>{"name": "readFile", "parameters": {"path": "notes.txt"}}`.', expect: { quoted: true } },
  { dialect: 'python-tag', kind: 'two-calls', tools: all, source: PYTHON_TAG, text: '<|python_tag|>{"name": "readFile", "parameters": {"path": "a.txt"}}; {"name": "readFile", "parameters": {"path": "b.txt"}}', expect: both },
  // pythonic lists
  { dialect: 'pythonic', kind: 'alone', tools: all, source: PYTHONIC, text: '[readFile(path="notes.txt")]', expect: notes },
  { dialect: 'pythonic', kind: 'alone', tools: all, source: PYTHONIC, text: '<|python_start|>[readFile(path="notes.txt")]<|python_end|>', expect: notes },
  { dialect: 'pythonic', kind: 'alone', tools: all, source: PYTHONIC, text: "[addEntry(title='it\\'s \"late\"', tags=['a', 'b'], amount=-1.5), runCommand(command='ls -la', background=True)]", expect: { calls: [{ name: 'addEntry', input: { title: 'it\'s "late"', tags: ['a', 'b'], amount: -1.5 } }, { name: 'runCommand', input: { command: 'ls -la', background: true } }] } },
  { dialect: 'pythonic', kind: 'after-prose', tools: all, source: PYTHONIC, text: 'I will list the folder.\n\n[runCommand(command="ls -la")]', expect: list },
  { dialect: 'pythonic', kind: 'template-tokens', tools: all, source: PYTHONIC, text: '[readFile(path="notes.txt")]<|eot|>', expect: notes },
  { dialect: 'pythonic', kind: 'cut-off', tools: all, source: PYTHONIC, text: '[readFile(path="notes.t', expect: { unreadable: true } },
  { dialect: 'pythonic', kind: 'twice', tools: all, source: PYTHONIC, text: '[readFile(path="notes.txt"), readFile(path="notes.txt")]', expect: notes },
  { dialect: 'pythonic', kind: 'quoted', tools: all, source: PYTHONIC, text: 'In Python you would write [readFile(path="notes.txt")] and print the result.', expect: { quoted: true } },
  { dialect: 'pythonic', kind: 'two-calls', tools: all, source: PYTHONIC, text: '[readFile(path="a.txt"), readFile(path="b.txt")]', expect: both },
  // Gemma
  { dialect: 'gemma', kind: 'alone', tools: all, source: GEMMA, text: '```tool_code\nreadFile(path="notes.txt")\n```', expect: notes },
  { dialect: 'gemma', kind: 'alone', tools: all, source: GEMMA, text: '```tool_code\nprint(readFile(path="notes.txt"))\n```', expect: notes },
  { dialect: 'gemma', kind: 'alone', tools: all, source: GEMMA, text: '```json\n{"name": "readFile", "parameters": {"path": "notes.txt"}}\n```', expect: notes },
  { dialect: 'gemma', kind: 'alone', tools: all, source: GEMMA, text: '[readFile(path="notes.txt")]\n', expect: notes },
  { dialect: 'gemma', kind: 'after-prose', tools: all, source: GEMMA, text: 'Okay, I will look at the folder.\n\n```tool_code\nrunCommand(command=\'ls -la\')\n```', expect: list },
  { dialect: 'gemma', kind: 'template-tokens', tools: all, source: GEMMA, text: '```json\n{"name": "readFile", "parameters": {"path": "notes.txt"}}\n```<end_of_turn>', expect: notes },
  { dialect: 'gemma', kind: 'cut-off', tools: all, source: GEMMA, text: '```tool_code\nwriteFile(path="a.txt", content="one', expect: { unreadable: true } },
  { dialect: 'gemma', kind: 'quoted', tools: all, source: GEMMA, text: '```tool_code\nrunCommand(command="ls -la")\n```\n\nThis is how the tool would be called.', expect: { quoted: true } },
  { dialect: 'gemma', kind: 'two-calls', tools: all, source: GEMMA, text: '```tool_code\nreadFile(path="a.txt")\nreadFile(path="b.txt")\n```', expect: both },
  // Phi-4
  { dialect: 'phi', kind: 'alone', tools: all, source: PHI, text: 'functools[{"name": "readFile", "arguments": {"path": "notes.txt"}}]', expect: notes },
  { dialect: 'phi', kind: 'alone', tools: all, source: PHI, text: '<|tool_call|>[{"name": "readFile", "arguments": {"path": "notes.txt"}}]<|/tool_call|>', expect: notes },
  { dialect: 'phi', kind: 'template-tokens', tools: all, source: PHI, text: 'functools[{"name": "runCommand", "arguments": {"command": "ls -la"}}]<|end|>', expect: list },
  { dialect: 'phi', kind: 'cut-off', tools: all, source: PHI, text: 'functools[{"name": "writeFile", "arguments": {"path": "a', expect: { unreadable: true } },
  { dialect: 'phi', kind: 'two-calls', tools: all, source: PHI, text: 'functools[{"name": "readFile", "arguments": {"path": "a.txt"}}, {"name": "readFile", "arguments": {"path": "b.txt"}}]', expect: both },
  // DeepSeek V3, R1 and V3.1
  { dialect: 'deepseek', kind: 'alone', tools: all, source: DEEPSEEK, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "notes.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>', expect: notes },
  { dialect: 'deepseek', kind: 'alone', tools: all, source: DEEPSEEK_31, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>readFile<｜tool▁sep｜>{"path": "notes.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>', expect: notes },
  { dialect: 'deepseek', kind: 'after-prose', tools: all, source: DEEPSEEK, text: '<think>\nI should list the folder.\n</think>\n\nLet me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>runCommand\n```json\n{"command": "ls -la"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>', expect: list },
  { dialect: 'deepseek', kind: 'template-tokens', tools: all, source: DEEPSEEK, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "notes.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>', expect: notes },
  { dialect: 'deepseek', kind: 'cut-off', tools: all, source: DEEPSEEK, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "notes.txt"}\n```', expect: notes },
  { dialect: 'deepseek', kind: 'cut-off', tools: all, source: DEEPSEEK_31, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>writeFile<｜tool▁sep｜>{"path": "a.txt", "content"', expect: { unreadable: true } },
  { dialect: 'deepseek', kind: 'twice', tools: all, source: DEEPSEEK_31, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>readFile<｜tool▁sep｜>{"path": "notes.txt"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>readFile<｜tool▁sep｜>{"path": "notes.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>', expect: notes },
  { dialect: 'deepseek', kind: 'two-calls', tools: all, source: DEEPSEEK, text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "a.txt"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "b.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>', expect: both },
  // GLM-4.5
  { dialect: 'glm', kind: 'alone', tools: all, source: GLM, text: '<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>notes.txt</arg_value>\n</tool_call>', expect: notes },
  { dialect: 'glm', kind: 'alone', tools: all, source: GLM, text: '<tool_call>addEntry\n<arg_key>title</arg_key>\n<arg_value>tea</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>["shop"]</arg_value>\n<arg_key>amount</arg_key>\n<arg_value>2.5</arg_value>\n</tool_call>', expect: { calls: [{ name: 'addEntry', input: { title: 'tea', tags: ['shop'], amount: 2.5 } }] } },
  { dialect: 'glm', kind: 'after-prose', tools: all, source: GLM, text: '<think>ls will do</think>\nI will list it.\n<tool_call>runCommand\n<arg_key>command</arg_key>\n<arg_value>ls -la</arg_value>\n</tool_call>', expect: list },
  { dialect: 'glm', kind: 'template-tokens', tools: all, source: GLM, text: '\n<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>notes.txt</arg_value>\n</tool_call>\n<|observation|>', expect: notes },
  { dialect: 'glm', kind: 'cut-off', tools: all, source: GLM, text: '<tool_call>writeFile\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n<arg_key>content</arg_key>\n<arg_value>one', expect: { unreadable: true } },
  { dialect: 'glm', kind: 'quoted', tools: all, source: GLM, text: 'GLM puts `<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>notes.txt</arg_value>\n</tool_call>` at the end.', expect: { quoted: true } },
  { dialect: 'glm', kind: 'two-calls', tools: all, source: GLM, text: '<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>\n<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>b.txt</arg_value>\n</tool_call>', expect: both },
  // Granite 3 and 4
  { dialect: 'granite', kind: 'alone', tools: all, source: GRANITE, text: '<|tool_call|>[{"name": "readFile", "arguments": {"path": "notes.txt"}}]', expect: notes },
  { dialect: 'granite', kind: 'alone', tools: all, source: GRANITE, text: '<tool_call>[{"arguments": {"path": "notes.txt"}, "name": "readFile"}]', expect: notes },
  { dialect: 'granite', kind: 'template-tokens', tools: all, source: GRANITE, text: '<tool_call>\n{"name": "runCommand", "arguments": {"command": "ls -la"}}\n</tool_call><|end_of_text|>', expect: list },
  { dialect: 'granite', kind: 'cut-off', tools: all, source: GRANITE, text: '<|tool_call|>[{"name": "writeFile", "arguments": {"path": "a.txt", ', expect: { unreadable: true } },
  { dialect: 'granite', kind: 'twice', tools: all, source: GRANITE, text: '<|tool_call|>[{"name": "readFile", "arguments": {"path": "notes.txt"}}, {"name": "readFile", "arguments": {"path": "notes.txt"}}]', expect: notes },
  { dialect: 'granite', kind: 'two-calls', tools: all, source: GRANITE, text: '<|tool_call|>[{"name": "readFile", "arguments": {"path": "a.txt"}}, {"name": "readFile", "arguments": {"path": "b.txt"}}]<|end_of_text|>', expect: both },
  // Kimi K2
  { dialect: 'kimi', kind: 'alone', tools: all, source: KIMI, text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>{"path": "notes.txt"}<|tool_call_end|><|tool_calls_section_end|>', expect: notes },
  { dialect: 'kimi', kind: 'after-prose', tools: all, source: KIMI, text: 'I’ll check the folder. <|tool_calls_section_begin|> <|tool_call_begin|> functions.runCommand:3 <|tool_call_argument_begin|> {"command": "ls -la"} <|tool_call_end|> <|tool_calls_section_end|>', expect: list },
  { dialect: 'kimi', kind: 'template-tokens', tools: all, source: KIMI, text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>{"path":"notes.txt"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>', expect: notes },
  { dialect: 'kimi', kind: 'cut-off', tools: all, source: KIMI, text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.writeFile:0<|tool_call_argument_begin|>{"path":"a.txt","content":"', expect: { unreadable: true } },
  { dialect: 'kimi', kind: 'twice', tools: all, source: KIMI, text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>{"path":"notes.txt"}<|tool_call_end|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>{"path":"notes.txt"}<|tool_call_end|><|tool_calls_section_end|>', expect: notes },
  { dialect: 'kimi', kind: 'two-calls', tools: all, source: KIMI, text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.readFile:0<|tool_call_argument_begin|>{"path":"a.txt"}<|tool_call_end|><|tool_call_begin|>functions.readFile:1<|tool_call_argument_begin|>{"path":"b.txt"}<|tool_call_end|><|tool_calls_section_end|>', expect: both },
  // gpt-oss harmony
  { dialect: 'harmony', kind: 'alone', tools: all, source: HARMONY, text: '<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"notes.txt"}<|call|>', expect: notes },
  { dialect: 'harmony', kind: 'alone', tools: all, source: HARMONY, text: '<|start|>assistant to=functions.runCommand<|channel|>commentary json<|message|>{"command":"ls -la"}<|call|>', expect: list },
  { dialect: 'harmony', kind: 'after-prose', tools: all, source: HARMONY, text: '<|channel|>analysis<|message|>We need to read notes.txt.<|end|><|start|>assistant<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"notes.txt"}<|call|>', expect: notes },
  { dialect: 'harmony', kind: 'cut-off', tools: all, source: HARMONY, text: '<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"notes.txt"}', expect: notes },
  { dialect: 'harmony', kind: 'cut-off', tools: all, source: HARMONY, text: '<|channel|>commentary to=functions.writeFile <|constrain|>json<|message|>{"path":"a.txt","cont', expect: { unreadable: true } },
  { dialect: 'harmony', kind: 'quoted', tools: all, source: HARMONY, text: '<|channel|>final<|message|>A call is written `<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"notes.txt"}<|call|>`.<|return|>', expect: { quoted: true } },
  { dialect: 'harmony', kind: 'two-calls', tools: all, source: HARMONY, text: '<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"a.txt"}<|call|><|start|>assistant<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{"path":"b.txt"}<|call|>', expect: both },
  // ReAct
  { dialect: 'react', kind: 'alone', tools: all, source: REACT, text: 'Action: readFile\nAction Input: {"path": "notes.txt"}', expect: notes },
  { dialect: 'react', kind: 'after-prose', tools: all, source: REACT, text: 'Thought: I should list the folder first.\nAction: runCommand\nAction Input: {"command": "ls -la"}\n', expect: list },
  { dialect: 'react', kind: 'template-tokens', tools: all, source: REACT, text: 'Thought: I need the file.\nAction: readFile\nAction Input: {"path": "notes.txt"}\nObservation:', expect: notes },
  { dialect: 'react', kind: 'template-tokens', tools: all, source: REACT, text: 'Action: readFile\nAction Input: {"path": "notes.txt"}<|im_end|>', expect: notes },
  { dialect: 'react', kind: 'cut-off', tools: all, source: REACT, text: 'Thought: I will write it.\nAction: writeFile\nAction Input: {"path": "a.txt", "content": "on', expect: { unreadable: true } },
  { dialect: 'react', kind: 'quoted', tools: all, source: REACT, text: 'ReAct agents write:\n\n> Action: readFile\n> Action Input: {"path": "notes.txt"}', expect: { quoted: true } },
  { dialect: 'react', kind: 'quoted', tools: all, source: REACT, text: 'Action: runCommand\nAction Input: {"command": "ls -la"}\n\nThese two lines are what the paper calls an action; you would parse them with a pattern.', expect: { quoted: true } }
]
