// Tokens of chat templates. Servers should remove them from an answer, and often do not.

/** Tokens that end an answer or begin another author's turn: the text behind such a token is not part of the answer. */
const ENDS = [
  // ChatML, Llama, gpt-oss, Phi, GLM, Granite, Command, Kimi, Gemma, DeepSeek, Mistral.
  ...['<|im_end|>', '<|im_start|>', '<|endoftext|>', '<|endofprompt|>', '<|im_user|>', '<|im_system|>', '<|im_assistant|>'],
  ...['<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot|>', '<|eom|>', '<|header_start|>'],
  ...['<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|user|>', '<|system|>', '<|assistant|>', '<|tool|>', '<|observation|>'],
  ...['<|start_of_role|>', '<|end_of_role|>', '<|END_OF_TURN_TOKEN|>', '<|START_OF_TURN_TOKEN|>', '<|END_RESPONSE|>', '<|USER_TOKEN|>'],
  ...['<|SYSTEM_TOKEN|>', '<|CHATBOT_TOKEN|>', '<|end_of_msg|>', '<|role_end|>', '<|tool_response|>', '<|eos|>', '<|EOT|>', '<|END|>'],
  ...['<|endofturn|>', '<|EOS_TOKEN|>', '<|/assistant|>', '<|end_of_response|>', '<turn|>', '<|turn>', '<end_of_turn>', '<start_of_turn>'],
  ...['<｜end▁of▁sentence｜>', '<｜User｜>', '<｜Assistant｜>', '<｜tool▁outputs▁begin｜>', '<｜tool▁output▁begin｜>', '<seed:eos>', '<eos>'],
  ...['</s>', '[/INST]', '[INST]', '[TOOL_RESULTS]', '[/TOOL_RESULTS]', '[AVAILABLE_TOOLS]', '[SYSTEM_PROMPT]', '<<SYS>>', '[e~[']
]
/** Tokens that are dropped from an answer. */
const SILENT = [
  ...['<s>', '<bos>', '<pad>', '<unk>', '[gMASK]', '<sop>', '<|begin_of_text|>', '<｜begin▁of▁sentence｜>', '<seed:bos>', '[BOS]', '[EOS]']
]
const TOKENS = [...ENDS, ...SILENT]
const ENDING = new Set(ENDS)
/** Other tokens of this form are dropped from an answer, too. */
const OF_FORM = /<[|｜][\w▁/-]{2,40}[|｜]>/y
const BEGINS_OF_FORM = /^<(?:[|｜](?:[\w▁/-]{0,40}[|｜]?)?)?$/
/** The role of the model itself, behind a token at the beginning of an answer. */
const OWN_ROLE = /^\s*(?:assistant|model|bot|gpt|CHATBOT)(?=\s*(?:$|\n|<[|｜]|\|>))\s*/
const OTHER_ROLE = /^\s*(?:user|system|tool|human|ipython|observation|environment)\s*(?:\n|<[|｜])/

interface Token {
  text: string
  isEnd: boolean
}

/**
 * Returns the token of a chat template at the beginning of a text; `open` if the text might be the beginning of one, undefined for other
 * text.
 */
export function tokenAt (text: string): Token | 'open' | undefined {
  const known = TOKENS.find((each) => text.startsWith(each))
  if (known !== undefined) return { text: known, isEnd: ENDING.has(known) }
  OF_FORM.lastIndex = 0
  const [token] = OF_FORM.exec(text) ?? []
  if (token !== undefined) return { text: token, isEnd: false }
  return text.length < 32 && (TOKENS.some((each) => each.startsWith(text)) || BEGINS_OF_FORM.test(text)) ? 'open' : undefined
}

/**
 * Returns the length of the message header at the beginning of an answer: the token, and the model's role if it follows. Returns `other` if
 * another author's role follows, and `open` if more text is needed to decide.
 */
export function headerLength (text: string, { text: token }: Token): number | 'other' | 'open' {
  const rest = text.slice(token.length)
  if (OTHER_ROLE.test(rest)) return 'other'
  const role = OWN_ROLE.exec(rest)
  if (role !== null) return token.length + role[0].length
  return /^\s*[a-zA-Z]{0,11}\s*$/.test(rest) && /start|begin|role|turn|header|im_|Assistant|\|assistant/.test(token) ? 'open' : token.length
}

const BEFORE_WORD = /(?:[^\s.!?…:)\]>][^\S\n]|["'(“‘«])$/
/**
 * True if a token is mentioned in a sentence, with words before and behind it, and so belongs to the text. `before` is the two characters
 * before the token.
 */
export const isWord = (before: string, behind: string): boolean => BEFORE_WORD.test(before) && /^[)"'”’»,.:;]*[^\S\n]+[\w(]/.test(behind)
/** True if more text is needed to decide about `isWord`. */
export const mayBeWord = (before: string, behind: string): boolean =>
  BEFORE_WORD.test(before) && /^[)"'”’»,.:;]*[^\S\n]*$/.test(behind)
