import type { TextCallCase } from './text-call-case.ts'

// Answers written before the readers: each dialect as its makers, vLLM or llama.cpp document it, in the surroundings that models give it.

type Call = TextCallCase['calls'][number]

/** A dialect with one call of `listDirectory`, and with two calls. `isFenced`: the dialect writes fences itself. */
interface Sample {
  dialect: string
  source: string
  one: string
  two?: string
  /** The call without its last characters, which nobody can read. */
  cut?: string
  /** Text that stands before the call in the dialect itself. */
  shown?: string
  isFenced?: true
}

const LIST: Call = { name: 'listDirectory', input: { path: 'src' } }
const READ: Call = { name: 'readFile', input: { path: 'a.txt' } }

const vllm = (page: string) => `https://docs.vllm.ai/en/latest/features/tool_calling.html#${page}`
const vllmParser = (name: string) => `https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/tool_parsers/${name}_tool_parser.py`
const llamaCpp = 'https://github.com/ggml-org/llama.cpp/blob/master/docs/function-calling.md'
const templates = 'https://github.com/ggml-org/llama.cpp/tree/master/models/templates'

const samples: Sample[] = [
  {
    dialect: 'hermes',
    source: vllm('hermes-models-hermes'),
    one: '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "src"}}\n</tool_call>',
    two: '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "src"}}\n</tool_call>\n' +
      '<tool_call>\n{"name": "readFile", "arguments": {"path": "a.txt"}}\n</tool_call>',
    cut: '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "sr'
  },
  {
    dialect: 'qwen3-coder',
    source: vllmParser('qwen3coder'),
    one: '<tool_call>\n<function=listDirectory>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>',
    two: '<tool_call>\n<function=listDirectory>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>\n' +
      '<tool_call>\n<function=readFile>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>',
    cut: '<tool_call>\n<function=listDirectory>\n<parameter=path>\nsr'
  },
  {
    dialect: 'mistral',
    source: vllm('mistral-models-mistral'),
    one: '[TOOL_CALLS] [{"name": "listDirectory", "arguments": {"path": "src"}}]',
    two: '[TOOL_CALLS][{"name": "listDirectory", "arguments": {"path": "src"}}, {"name": "readFile", "arguments": {"path": "a.txt"}}]',
    cut: '[TOOL_CALLS][{"name": "listDirectory", "arguments": {"pa'
  },
  {
    dialect: 'mistral-v11',
    source: `${templates} (Mistral-Small-3.2-24B-Instruct-2506)`,
    one: '[TOOL_CALLS]listDirectory[ARGS]{"path": "src"}',
    two: '[TOOL_CALLS]listDirectory[CALL_ID]abcdef123[ARGS]{"path": "src"}[TOOL_CALLS]readFile[CALL_ID]abcdef124[ARGS]{"path": "a.txt"}',
    cut: '[TOOL_CALLS]listDirectory[ARGS]{"path": "sr'
  },
  {
    dialect: 'llama-json',
    source: vllm('llama-models-llama3_json'),
    one: '{"name": "listDirectory", "parameters": {"path": "src"}}',
    two: '{"name": "listDirectory", "parameters": {"path": "src"}}; {"name": "readFile", "parameters": {"path": "a.txt"}}',
    cut: '{"name": "listDirectory", "parameters": {"path": "s'
  },
  {
    dialect: 'llama-python-tag',
    source: 'https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/',
    one: '<|python_tag|>{"name": "listDirectory", "parameters": {"path": "src"}}',
    two: '<|python_tag|>{"name": "listDirectory", "parameters": {"path": "src"}}; {"name": "readFile", "parameters": {"path": "a.txt"}}',
    cut: '<|python_tag|>{"name": "listDirectory", "param'
  },
  {
    dialect: 'llama-builtin',
    source: 'https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/ (brave_search.call)',
    one: '<|python_tag|>listDirectory.call(path="src")',
    cut: '<|python_tag|>listDirectory.call(path="sr'
  },
  {
    dialect: 'llama-function-tag',
    source: 'https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/ (custom tools)',
    one: '<function=listDirectory>{"path": "src"}</function>',
    cut: '<function=listDirectory>{"path": "sr'
  },
  {
    dialect: 'pythonic',
    source: vllm('models-with-pythonic-tool-calls-pythonic'),
    one: '[listDirectory(path="src")]',
    two: '[listDirectory(path="src"), readFile(path="a.txt")]',
    cut: '[listDirectory(path="sr'
  },
  {
    dialect: 'gemma-tool-code',
    source: 'https://ai.google.dev/gemma/docs/capabilities/function-calling',
    one: '```tool_code\nlistDirectory(path="src")\n```',
    two: '```tool_code\nlistDirectory(path="src")\nreadFile(path="a.txt")\n```',
    cut: '```tool_code\nlistDirectory(path="sr',
    isFenced: true
  },
  {
    dialect: 'fenced-json',
    source: 'https://ai.google.dev/gemma/docs/capabilities/function-calling (JSON schema)',
    one: '```json\n{"name": "listDirectory", "parameters": {"path": "src"}}\n```',
    two: '```json\n[{"name": "listDirectory", "parameters": {"path": "src"}}, {"name": "readFile", "parameters": {"path": "a.txt"}}]\n```',
    cut: '```json\n{"name": "listDirectory", "parameters": {"pa',
    isFenced: true
  },
  {
    dialect: 'function-gemma',
    source: 'https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices',
    one: '<start_function_call>call:listDirectory{path:<escape>src<escape>}<end_function_call>',
    two: '<start_function_call>call:listDirectory{path:<escape>src<escape>}<end_function_call>' +
      '<start_function_call>call:readFile{path:<escape>a.txt<escape>}<end_function_call>',
    cut: '<start_function_call>call:listDirectory{path:<escape>sr'
  },
  {
    dialect: 'phi-4-mini',
    source: vllmParser('phi4mini'),
    one: 'functools[{"name": "listDirectory", "arguments": {"path": "src"}}]',
    two: 'functools[{"name": "listDirectory", "arguments": {"path": "src"}}, {"name": "readFile", "arguments": {"path": "a.txt"}}]',
    cut: 'functools[{"name": "listDirectory", "argu'
  },
  {
    dialect: 'phi-4-mini-tag',
    source: 'https://huggingface.co/microsoft/Phi-4-mini-instruct (chat template)',
    one: '<|tool_call|>[{"name": "listDirectory", "arguments": {"path": "src"}}]<|/tool_call|>',
    cut: '<|tool_call|>[{"name": "listDirectory", "arguments": {"pa'
  },
  {
    dialect: 'deepseek-r1',
    source: vllmParser('deepseekv3'),
    one: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>listDirectory\n```json\n{"path": "src"}\n```' +
      '<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    two: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>listDirectory\n```json\n{"path": "src"}\n```<｜tool▁call▁end｜>\n' +
      '<｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile\n```json\n{"path": "a.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    cut: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>listDirectory\n```json\n{"pa'
  },
  {
    dialect: 'deepseek-v3.1',
    source: vllmParser('deepseekv31'),
    one: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>listDirectory<｜tool▁sep｜>{"path": "src"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    two: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>listDirectory<｜tool▁sep｜>{"path": "src"}<｜tool▁call▁end｜>' +
      '<｜tool▁call▁begin｜>readFile<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    cut: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>listDirectory<｜tool▁sep｜>{"pa'
  },
  {
    dialect: 'deepseek-v3.2',
    source: 'https://huggingface.co/deepseek-ai/DeepSeek-V3.2/tree/main/encoding',
    one: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="listDirectory">\n<｜DSML｜parameter name="path" string="true">src</｜DSML｜parameter>\n' +
      '</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    cut: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="listDirectory">\n<｜DSML｜parameter name="path" string="true">sr'
  },
  {
    dialect: 'glm-4.5',
    source: vllmParser('glm4_moe'),
    one: '<tool_call>listDirectory\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>',
    two: '<tool_call>listDirectory\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>\n' +
      '<tool_call>readFile\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>',
    cut: '<tool_call>listDirectory\n<arg_key>path</arg_key>\n<arg_value>sr'
  },
  {
    dialect: 'glm-4',
    source: 'https://huggingface.co/THUDM/glm-4-9b-chat (the first line is the name)',
    one: 'listDirectory\n{"path": "src"}',
    cut: 'listDirectory\n{"path": "sr'
  },
  {
    dialect: 'granite-3',
    source: vllmParser('granite'),
    one: '<|tool_call|>[{"name": "listDirectory", "arguments": {"path": "src"}}]',
    two: '<tool_call>[{"name": "listDirectory", "arguments": {"path": "src"}}, {"name": "readFile", "arguments": {"path": "a.txt"}}]',
    cut: '<tool_call>[{"name": "listDirectory", "arguments": {"pa'
  },
  {
    dialect: 'granite-20b',
    source: vllmParser('granite_20b_fc'),
    one: '<function_call> {"name": "listDirectory", "arguments": {"path": "src"}}',
    two: '<function_call> {"name": "listDirectory", "arguments": {"path": "src"}} ' +
      '<function_call> {"name": "readFile", "arguments": {"path": "a.txt"}}',
    cut: '<function_call> {"name": "listDirectory", "arguments": {"pa'
  },
  {
    dialect: 'kimi-k2',
    source: vllmParser('kimi_k2'),
    one: '<|tool_calls_section_begin|><|tool_call_begin|>functions.listDirectory:0<|tool_call_argument_begin|>{"path": "src"}' +
      '<|tool_call_end|><|tool_calls_section_end|>',
    two: '<|tool_calls_section_begin|><|tool_call_begin|>functions.listDirectory:0<|tool_call_argument_begin|>{"path": "src"}<|tool_call_end|>' +
      '<|tool_call_begin|>functions.readFile:1<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>',
    cut: '<|tool_calls_section_begin|><|tool_call_begin|>functions.listDirectory:0<|tool_call_argument_begin|>{"pa'
  },
  {
    dialect: 'harmony',
    source: 'https://cookbook.openai.com/articles/openai-harmony',
    one: '<|channel|>commentary to=functions.listDirectory <|constrain|>json<|message|>{"path": "src"}<|call|>',
    two: '<|channel|>commentary to=functions.listDirectory <|constrain|>json<|message|>{"path": "src"}<|call|><|start|>assistant<|channel|>' +
      'analysis<|message|>And the file.<|end|><|start|>assistant<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>' +
      '{"path": "a.txt"}<|call|>',
    cut: '<|channel|>commentary to=functions.listDirectory <|constrain|>json<|message|>{"pa'
  },
  {
    dialect: 'harmony-recipient-first',
    source: 'https://cookbook.openai.com/articles/openai-harmony (the recipient may stand in the role)',
    one: '<|start|>assistant to=functions.listDirectory<|channel|>commentary json<|message|>{"path": "src"}<|call|>'
  },
  {
    dialect: 'react',
    source: 'https://github.com/QwenLM/Qwen/blob/main/examples/react_prompt.md',
    one: 'Action: listDirectory\nAction Input: {"path": "src"}',
    cut: 'Action: listDirectory\nAction Input: {"path": "sr'
  },
  {
    dialect: 'command-r',
    source: 'https://docs.cohere.com/docs/tool-use-overview (Command R prompt template)',
    one: 'Action: ```json\n[\n    {\n        "tool_name": "listDirectory",\n        "parameters": {\n            "path": "src"\n        }\n    }\n]```',
    isFenced: true
  },
  {
    dialect: 'command-r7b',
    source: 'https://huggingface.co/CohereLabs/c4ai-command-r7b-12-2024 (chat template)',
    one: '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "listDirectory", "parameters": {"path": "src"}}\n]<|END_ACTION|>',
    cut: '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "listDirectory", "parameters": {"pa'
  },
  {
    dialect: 'xlam',
    source: vllm('xlam-models-xlam'),
    one: '[{"name": "listDirectory", "arguments": {"path": "src"}}]',
    two: '[{"name": "listDirectory", "arguments": {"path": "src"}}, {"name": "readFile", "arguments": {"path": "a.txt"}}]',
    cut: '[{"name": "listDirectory", "arguments": {"pa'
  },
  {
    dialect: 'jamba',
    source: vllmParser('jamba'),
    one: '<tool_calls>[\n    {"name": "listDirectory", "arguments": {"path": "src"}}\n]</tool_calls>',
    cut: '<tool_calls>[\n    {"name": "listDirectory", "argum'
  },
  {
    dialect: 'internlm',
    source: vllmParser('internlm2'),
    one: '<|action_start|><|plugin|>\n{"name": "listDirectory", "parameters": {"path": "src"}}<|action_end|>',
    cut: '<|action_start|><|plugin|>\n{"name": "listDirectory", "para'
  },
  {
    dialect: 'minimax-m2',
    source: vllmParser('minimax_m2'),
    one: '<minimax:tool_call>\n<invoke name="listDirectory">\n<parameter name="path">src</parameter>\n</invoke>\n</minimax:tool_call>',
    two: '<minimax:tool_call>\n<invoke name="listDirectory">\n<parameter name="path">src</parameter>\n</invoke>\n' +
      '<invoke name="readFile">\n<parameter name="path">a.txt</parameter>\n</invoke>\n</minimax:tool_call>',
    cut: '<minimax:tool_call>\n<invoke name="listDirectory">\n<parameter name="path">sr'
  },
  {
    dialect: 'seed-oss',
    source: vllmParser('seed_oss'),
    one: '<seed:tool_call>\n<function=listDirectory>\n<parameter=path>src</parameter>\n</function>\n</seed:tool_call>',
    cut: '<seed:tool_call>\n<function=listDirectory>\n<parameter=path>sr'
  },
  {
    dialect: 'lfm2',
    source: 'https://docs.liquid.ai/lfm/key-concepts/tool-use',
    one: '<|tool_call_start|>[listDirectory(path="src")]<|tool_call_end|>',
    two: '<|tool_call_start|>[listDirectory(path="src"), readFile(path="a.txt")]<|tool_call_end|>',
    cut: '<|tool_call_start|>[listDirectory(path="sr'
  },
  {
    dialect: 'nemotron',
    source: `${llamaCpp} (Nemotron Nano v2)`,
    one: '<TOOLCALL>[{"name": "listDirectory", "arguments": {"path": "src"}}]</TOOLCALL>',
    cut: '<TOOLCALL>[{"name": "listDirectory", "argum'
  },
  {
    dialect: 'apertus',
    source: `${templates} (Apertus-8B-Instruct)`,
    one: '<|tools_prefix|>[{"listDirectory": {"path": "src"}}]<|tools_suffix|>',
    cut: '<|tools_prefix|>[{"listDirectory": {"pa'
  },
  {
    dialect: 'olmo-3',
    source: vllmParser('olmo3'),
    one: '<function_calls>\nlistDirectory(path="src")\n</function_calls>',
    two: '<function_calls>\nlistDirectory(path="src")\nreadFile(path="a.txt")\n</function_calls>',
    cut: '<function_calls>\nlistDirectory(path="sr'
  }
]

const PROSE = 'I will look into the folder first.\n\n'

/** Returns the surroundings of a dialect's call. */
function around ({ dialect, source, one, two, cut, isFenced }: Sample): TextCallCase[] {
  const of = (form: TextCallCase['form'], name: string, text: string, more: Partial<TextCallCase> = {}): TextCallCase =>
    ({ name: `${dialect}: ${name}`, dialect, source, form, text, calls: [LIST], shown: '', ...more })
  const isWhole = dialect === 'glm-4'
  const quoted = { calls: [], shown: undefined }
  const lines = one.split('\n').map((line) => `> ${line}`).join('\n')
  return [
    of('alone', 'alone', one),
    of('tokens', 'before a token of the template', `${one}<|im_end|>\n<|im_start|>user\nThanks!`),
    of('twice', 'written twice', `${one}\n${one}`, isWhole ? { calls: [LIST] } : {}),
    of('thoughts', 'behind a thought', `<think>Where is it?</think>\n\n${one}`, { reasoning: 'Where is it?' }),
    ...isWhole ? [] : [of('prose', 'behind prose', PROSE + one, { shown: PROSE.trim() })],
    ...two === undefined ? [] : [of('two', 'two calls', two, { calls: [LIST, READ] })],
    ...cut === undefined ? [] : [of('cut', 'cut off', cut, { calls: [], isUnread: true })],
    of('quoted', 'before text', `${one}\n\nThis is how the format looks.`, quoted),
    of('quoted', 'in a quotation', `The model wrote:\n\n${lines}`, quoted),
    of('quoted', 'in a fence of four', `It looks so:\n\n\`\`\`\`\n${one}\n\`\`\`\``, quoted),
    ...isFenced || one.includes('`') || one.includes('\n') ? [] : [of('quoted', 'in code', `Write \`${one}\``, quoted)],
    ...isFenced || one.includes('```') ? [] : [of('quoted', 'in a fence', `It looks so:\n\n\`\`\`xml\n${one}\n\`\`\``, quoted)]
  ]
}

const own = (name: string, text: string, more: Partial<TextCallCase> = {}): TextCallCase =>
  ({ name, dialect: 'own', source: 'own', form: 'other', text, calls: [], ...more })
const plain = (name: string, text: string): TextCallCase => own(name, text, { shown: text.trim(), reasoning: '' })
const WRITE: Call = { name: 'writeFile', input: { path: 'a.html', content: 'if (a < b) {\n  x("</tool_call>")\n}' } }

const others: TextCallCase[] = [
  // What models do with these dialects.
  own('a tag without its end', '<tool_call>{"name": "listDirectory", "arguments": {"path": "src"}}', { calls: [LIST], shown: '' }),
  own('a bracket too few', '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "src"}\n</tool_call>', { calls: [LIST] }),
  own('a bracket too many', '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "src"}}}\n</tool_call>', { calls: [LIST] }),
  own('quotes of Python', "<tool_call>\n{'name': 'listDirectory', 'arguments': {'path': 'src'}}\n</tool_call>", { calls: [LIST] }),
  own('arguments as a text', '<tool_call>{"name": "listDirectory", "arguments": "{\\"path\\": \\"src\\"}"}</tool_call>', { calls: [LIST] }),
  own('the form of the API', '{"type": "function", "function": {"name": "listDirectory", "arguments": {"path": "src"}}}', { calls: [LIST] }),
  own('two objects in one tag', '<tool_call>\n{"name": "listDirectory", "arguments": {"path": "src"}}\n' +
    '{"name": "readFile", "arguments": {"path": "a.txt"}}\n</tool_call>', { calls: [LIST, READ] }),
  own('a content with tags and braces', `<tool_call>${JSON.stringify({ name: 'writeFile', arguments: WRITE.input })}</tool_call>`, { calls: [WRITE] }),
  own('a content between tags', `<tool_call>\n<function=writeFile>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n${
    WRITE.input.content}\n</parameter>\n</function>\n</tool_call>`, { calls: [WRITE] }),
  own('a call behind prose in one line', 'Let me look. <tool_call>{"name": "listDirectory", "arguments": {"path": "src"}}</tool_call>', {
    calls: [LIST],
    shown: 'Let me look.'
  }),
  own('JSON behind prose in one line', 'Let me look: {"name": "listDirectory", "parameters": {"path": "src"}}', { calls: [LIST] }),
  own('a name with a prefix', '<tool_call>{"name": "functions.listDirectory", "arguments": {"path": "src"}}</tool_call>', { calls: [LIST] }),
  own('a name in other letters', '<tool_call>{"name": "list_directory", "arguments": {"path": "src"}}</tool_call>', { calls: [LIST] }),
  own('print around a call', '```tool_code\nprint(default_api.list_directory(path="src"))\n```', { calls: [LIST] }),
  own('a call in Python alone', 'listDirectory(path="src")', { calls: [LIST], shown: '' }),
  own('an argument without its name', '[listDirectory("src")]', { calls: [LIST] }),
  own('a list in lines', '[\n  listDirectory(path="src"),\n  readFile(path="a.txt"),\n]', { calls: [LIST, READ], shown: '' }),
  own('lines of Python', 'listDirectory(path="src")\nreadFile(path="a.txt")', { calls: [LIST, READ], shown: '' }),
  own('no arguments in Python', '[listDirectory()]', { calls: [{ name: 'listDirectory', input: {} }], shown: '' }),
  own('numbers of Python', '[readFile(path="a.txt", offset=-1, limit=1_000)]', {
    calls: [{ name: 'readFile', input: { path: 'a.txt', offset: -1, limit: 1000 } }]
  }),
  own('arguments with a colon', '[readFile(path: "a.txt")]', { calls: [READ] }),
  own('a function without the begin of its dialect', '<function=readFile>\n<parameter=path>a.txt</parameter>\n</function>\n</tool_call>', {
    calls: [READ],
    shown: ''
  }),
  own('a function without its end', '<tool_call><function=writeFile><parameter=path>a.txt</parameter>', { isUnread: true }),
  own('a function whose name is cut off', '<tool_call><function=writeF', { isUnread: true }),
  own('a parameter in another', '<function=readFile>\n<parameter=path>a.txt</parameter>\n<parameter=limit>10</parameter>\n</function>', {
    calls: [{ name: 'readFile', input: { path: 'a.txt', limit: 10 } }],
    shown: ''
  }),
  own('texts of Python', '[readFile(path=\'a.txt\', limit=10), writeFile(path="b", content="""say "hi"\n""")]', {
    calls: [{ name: 'readFile', input: { path: 'a.txt', limit: 10 } }, { name: 'writeFile', input: { path: 'b', content: 'say "hi"\n' } }]
  }),
  own('a transcript of ReAct', 'Thought: I should look.\nAction: listDirectory\nAction Input: {"path": "src"}\nObservation: a.txt, b.txt\n' +
    'Thought: Done.\nFinal Answer: two files', { calls: [LIST] }),
  own('an input of ReAct that is no JSON', 'Thought: I should look.\nAction: listDirectory\nAction Input: src', { calls: [LIST] }),
  own('an invented result', '<tool_call>{"name": "listDirectory", "arguments": {"path": "src"}}</tool_call>\n<tool_response>\na.txt\n' +
    '</tool_response>\nThere is a.txt.', { calls: [LIST], shown: '' }),
  own('an invented result without a call', 'I look.\n<tool_response>\n{"name": "listDirectory"}\n</tool_response>\nDone.', { shown: 'I look.' }),
  own('nothing but a result', '<tool_response>\na.txt\n</tool_response>', { shown: '' }),
  own('the end of a result', 'There is a.txt.\n</tool_response>', { shown: 'There is a.txt.' }),
  plain('the tags of results in code', 'Results stand in `<tool_response>` tags:\n\n```xml\n<tool_response>a</tool_response>\n```\n\nThat is all.'),
  own('a call in Hermes that is not JSON', '<tool_call>\nlist the folder src\n</tool_call>', { isUnread: true }),
  own('a tool that nobody offers', '<tool_call>{"name": "noSuchTool", "arguments": {}}</tool_call>', { isUnread: true }),
  own('harmony with thoughts', '<|channel|>analysis<|message|>I must look.<|end|><|start|>assistant<|channel|>commentary ' +
    'to=functions.listDirectory <|constrain|>json<|message|>{"path":"src"}<|call|>', { calls: [LIST], shown: '', reasoning: 'I must look.' }),
  own('harmony without its tokens', 'analysisI must look.assistantcommentary to=functions.listDirectory json{"path":"src"}', {
    calls: [LIST],
    shown: '',
    reasoning: 'I must look.'
  }),
  own('harmony with an answer', '<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>It is 4.<|return|>', {
    shown: 'It is 4.',
    reasoning: 'Easy.'
  }),
  own('a harmony answer without its tokens', 'analysisEasy.assistantfinalIt is 4.', { shown: 'It is 4.', reasoning: 'Easy.' }),
  own('no arguments in GLM', '<tool_call>listDirectory</tool_call>', { calls: [{ name: 'listDirectory', input: {} }] }),

  // Tokens of templates.
  own('a token at the end', 'It is 4.<|im_end|>', { shown: 'It is 4.' }),
  own('the tokens of Llama', 'It is 4.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks', { shown: 'It is 4.' }),
  own('the token of Mistral', 'It is 4.</s>', { shown: 'It is 4.' }),
  own('an invented turn', 'It is 4. [/INST] And 3+3? [INST]', { shown: 'It is 4.' }),
  own('the tokens of Gemma', '<start_of_turn>model\nIt is 4.<end_of_turn>\n<start_of_turn>user\nThanks', { shown: 'It is 4.' }),
  own('a header at the beginning', '<|im_start|>assistant\nIt is 4.<|im_end|>', { shown: 'It is 4.' }),
  own('a header of Llama', '<|start_header_id|>assistant<|end_header_id|>\n\nIt is 4.<|eot_id|>', { shown: 'It is 4.' }),
  own('the tokens of Phi', 'It is 4.<|end|>\n<|user|>\nThanks<|end|>', { shown: 'It is 4.' }),
  own('the tokens of DeepSeek', 'It is 4.<｜end▁of▁sentence｜>', { shown: 'It is 4.' }),
  own('an unknown token', 'It is 4.<|fim_pad|>', { shown: 'It is 4.' }),
  own('a token behind open code', '```js\nlet a = 1\n<|im_end|>', { shown: '```js\nlet a = 1' }),
  plain('tokens in code', 'ChatML ends a turn with `<|im_end|>` and Llama with `<|eot_id|>`.'),
  plain('tokens in a fence', 'A turn:\n\n```\n<|im_start|>user\nhi<|im_end|>\n```\n\nThat is all.'),
  plain('a token as a word', 'The token <|im_end|> ends a turn, and </s> does so in Llama 2.'),
  plain('HTML that strikes through', 'Now <s>9</s> 7 francs.'),

  // Thoughts.
  own('a thought', '<think>\nHm.\n</think>\n\nIt is 4.', { shown: 'It is 4.', reasoning: 'Hm.' }),
  own('a thought in other tags', '<thinking>Hm.</thinking>It is 4.', { shown: 'It is 4.', reasoning: 'Hm.' }),
  own('a thought of Magistral', '[THINK]Hm.[/THINK]It is 4.', { shown: 'It is 4.', reasoning: 'Hm.' }),
  own('a thought without its beginning', 'Let me see. 2+2 is 4.\n</think>\n\nIt is 4.', { shown: 'It is 4.', reasoning: 'Let me see. 2+2 is 4.' }),
  own('a second thought', '<think>One.</think>First.\n<think>Two.</think>\nSecond.', { reasoning: 'One.Two.' }),
  own('an empty thought', '<think>\n\n</think>\n\nIt is 4.', { shown: 'It is 4.', reasoning: '' }),
  own('a thought of Command', '<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>It is 4.<|END_RESPONSE|>', { shown: 'It is 4.', reasoning: 'Hm.' }),
  plain('a tag of thoughts as a word', 'Qwen writes <think> before and </think> behind its thoughts.'),

  // Answers without any of it.
  plain('JSON in a fence', 'Here it is:\n\n```json\n{"name": "Ada", "age": 36}\n```'),
  plain('a list in a fence', '```json\n[{"name": "Ada", "arguments": 1}]\n```'),
  plain('JSON alone', '{"name": "Ada", "parameters": {"age": 36}}'),
  plain('code', '```python\nprint(listDirectory(path="src"))\n```'),
  plain('a link', 'See [readFile](https://example.org/readFile) and [1].'),
  plain('a word of ReAct', 'Action: none is needed, since all is done.'),
  plain('HTML', 'Use <function-name> and <b>bold</b> here: a < b, {x}, [y].'),
  plain('a tag as a word', 'The <tool_call> tag holds a call.'),
  plain('the name of a tool', 'readFile is a tool that reads files.'),
  plain('the name of a tool with its arguments', 'readFile(path) reads a file, and listDirectory() lists a folder.'),
  plain('an object in code', 'Set it:\n\n```js\nconst call = { name: "readFile", arguments: {} }\n```\n\nThen go on.')
]

export const openCases: TextCallCase[] = [...samples.flatMap(around), ...others]
