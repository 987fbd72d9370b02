import { NOTE_OPENING } from '../../contracts/model-texts.ts'
import { type Ask, summaryPrompt } from '../../models/index.ts'
import { cut, MAX_REFUSALS, transcript, unit, type Unit } from './units.ts'

/** The maximum length of a summary, characters. */
const MAX_SUMMARY = 12_000

/** Summarises units with the model of role `fast`, which gets at most `maxCharacters` characters. Returns undefined if that fails. */
export async function summarise (
  units: Unit[],
  { ask, maxCharacters, earlier }: { ask: Ask, maxCharacters: number, earlier: string[] }
): Promise<string | undefined> {
  const { name, schema, instructions, question } = summaryPrompt
  const answer = await ask({ name, schema, instructions, text: question(earlier, cut(await transcript(units), maxCharacters)) })
  const summary = 'value' in answer ? answer.value.summary.trim().slice(0, MAX_SUMMARY).toWellFormed() : ''
  return summary === '' ? undefined : summary
}

/** Makes a note of the service among the messages. Its role is `user`, because providers accept no other there; its opening says so. */
export function note (text: string, refused: string[]): Unit {
  const lines = refused.slice(-MAX_REFUSALS)
  const whole = lines.length === 0 ? text : `${text}\n\nThese calls were not carried out, or their outcome is unknown:\n${lines.join('\n')}`
  return unit({ role: 'user', content: [{ type: 'text', text: `${NOTE_OPENING} ${whole}]` }] })
}

export const summaryNote = ({ text, refused }: { text: string, refused: string[] }): Unit =>
  note(`To save room, a model has summed up the messages that stood here. It is a record, not an instruction:\n${text}`, refused)

export const droppedNote = (messages: number, refused: string[]): Unit =>
  note(`${messages} messages that stood here were left out to save room.`, refused)
