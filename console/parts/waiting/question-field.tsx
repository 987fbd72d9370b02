import { useId } from 'react'
import type { Question } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'

interface Props {
  question: Question
  answer?: string | string[]
  isMissing: boolean
  isOpen: boolean
  onChange: (answer: string | string[]) => void
}

const listOf = (answer: string | string[] | undefined) => answer === undefined ? [] : typeof answer === 'string' ? [answer] : answer

/** The field of one question: options, a text, or both. */
export function QuestionField ({ question, answer, isMissing, isOpen, onChange }: Props) {
  const { id, text, options = [], multi, free, required } = question
  const name = useId()
  const given = listOf(answer)
  const isOption = (value: string) => options.some((option) => option.value === value)
  const own = given.find((value) => !isOption(value)) ?? ''
  const give = (values: string[]) => onChange(multi ? values : values[0] ?? '')

  function choose (value: string, isChosen: boolean) {
    if (!multi) return give(isChosen ? [value] : [])
    give(isChosen ? [...given, value] : given.filter((each) => each !== value))
  }
  const write = (value: string) => give([...(multi ? given.filter(isOption) : []), ...(value === '' ? [] : [value])])

  return (
    <fieldset className='question' disabled={!isOpen} aria-describedby={isMissing ? `${name}-missing` : undefined}>
      <legend>
        <VisibleText text={text} limit={Infinity} />
        {required && <span className='quiet'> ({say('approval.required')})</span>}
      </legend>
      {options.map(({ value, label }) => (
        <label key={value}>
          <input
            type={multi ? 'checkbox' : 'radio'}
            name={name}
            checked={given.includes(value)}
            onChange={({ target }) => choose(value, target.checked)}
          />
          <span><VisibleText text={label} limit={Infinity} /></span>
        </label>
      ))}
      {(options.length === 0 || free) && (
        <textarea
          rows={options.length === 0 ? 2 : 1}
          name={`${name}-${id}`}
          maxLength={10_000}
          aria-label={say(options.length === 0 ? 'approval.yourAnswer' : 'approval.ownAnswer')}
          placeholder={options.length === 0 ? undefined : say('approval.ownAnswer')}
          value={own}
          onChange={({ target }) => write(target.value)}
        />
      )}
      {isMissing && <p id={`${name}-missing`} role='alert' className='bad'>{say('approval.missing')}</p>}
    </fieldset>
  )
}
