import { say } from '../../../lib/say.ts'
import { isRecord } from '../../../parts/call/values.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

interface Asked {
  text: string
  /** The labels of the chosen options; empty if the question was not answered. */
  answers: string[]
}

/** Closed questions of the agent, with the user's answers. */
export function AskedRow ({ questions }: { questions: Asked[] }) {
  return (
    <dl className='asked'>
      {questions.map(({ text, answers }, at) => (
        <div key={at}>
          <dt className='quiet'><VisibleText text={text} limit={Infinity} /></dt>
          {answers.length === 0 && <dd className='quiet'>{say('chat.notAnswered')}</dd>}
          {answers.map((answer) => <dd key={answer} className='row-text'><VisibleText text={answer} limit={Infinity} /></dd>)}
        </div>
      ))}
    </dl>
  )
}

/** Returns the questions of a call with their answers; undefined if its input or output has another form. */
export function readAsked (input: unknown, output: unknown): Asked[] | undefined {
  if (!isRecord(input) || !Array.isArray(input.questions) || !isRecord(output)) return undefined
  const chosen = isRecord(output.answers) ? output.answers : {}
  const questions = input.questions.filter(isRecord).flatMap(({ id, text, options }): Asked[] => {
    if (typeof id !== 'string' || typeof text !== 'string') return []
    const labels = new Map((Array.isArray(options) ? options.filter(isRecord) : []).map(({ value, label }) => [value, label]))
    const answers = [chosen[id]].flat().filter((answer) => typeof answer === 'string')
    return [{ text, answers: answers.map((answer) => String(labels.get(answer) ?? answer)) }]
  })
  return questions.length > 0 ? questions : undefined
}
