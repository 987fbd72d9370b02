/** A pair of marks that chat templates put around thoughts in the text of an answer. Each of `ends` closes the thoughts. */
interface Thoughts {
  open: string
  ends: readonly string[]
  /** The opening mark counts only at the beginning of the answer. */
  isAtBegin?: true
}

const between = (open: string, ...ends: string[]): Thoughts => ({ open, ends })

export const THOUGHTS: readonly Thoughts[] = [
  between('<think>', '</think>'),
  between('<thinking>', '</thinking>'),
  between('<thought>', '</thought>'),
  between('<reasoning>', '</reasoning>'),
  between('[THINK]', '[/THINK]'),
  between('<seed:think>', '</seed:think>'),
  between('◁think▷', '◁/think▷'),
  between('<|START_THINKING|>', '<|END_THINKING|>'),
  between('<|begin_of_thought|>', '<|end_of_thought|>'),
  between('<|channel>thought', '<channel|>'),
  between('<|channel|>analysis<|message|>', '<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|channel|>'),
  // OpenAI's harmony format (gpt-oss) from a server that removed the tokens: the word behind follows without a blank.
  { open: 'analysis', ends: ['assistantfinal', 'assistantcommentary'], isAtBegin: true }
]

/** Closing marks that also count without an opening mark, because the chat template wrote the opening mark into the prompt. */
export const LONE_ENDS: readonly string[] =
  ['</think>', '</thinking>', '</thought>', '[/THINK]', '</seed:think>', '◁/think▷', '<|END_THINKING|>', '<|end_of_thought|>']
