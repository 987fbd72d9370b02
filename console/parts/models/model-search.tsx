import { Dialog as Base } from '@base-ui/react/dialog'
import { Check, Search } from 'lucide-react'
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type UIEvent } from 'react'
import type { ModelList } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Failed } from '../failed.tsx'
import { VisibleText } from '../visible-text.tsx'
import { readLatelyUsed } from './lately-used.ts'
import { ListErrors } from './list-errors.tsx'
import { modelOptions, type ModelOption } from './model-options.ts'
import { useModels } from './model-queries.ts'

/** The number of lines that are rendered at first, and that are added when the user comes near the end. */
const DRAWN = 60
/** The number of lines that PageUp and PageDown move by. */
const PAGE = 10
/** The distance from the end at which lines are added, in pixels. */
const NEAR = 400

interface Props {
  label: string
  value: string
  usual?: string
  onChoose: (model: string) => void
  onClose: () => void
}

/** Finds a model by typing, even among thousands of models. */
export default function ModelSearch (props: Props) {
  const { label, value, onClose } = props
  const { data, error, isPending } = useModels()
  const list = useLines(props, data?.models ?? [])
  const { id, typed, type, options, current, onKeyDown } = list
  const count = options.filter((option) => option.id !== '').length
  const field = useRef<HTMLInputElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open onOpenChange={(isOpen) => { if (!isOpen) onClose() }}>
      <Base.Portal>
        <Base.Backdrop className='dialog-backdrop' />
        {/* The field is not focused on a phone, because the on-screen keyboard would cover the list. */}
        <Base.Popup
          ref={popup} className='palette' aria-label={label}
          initialFocus={matchMedia('(pointer: coarse)').matches ? popup : field}
        >
          <div className='palette-field'>
            <Search />
            <input
              ref={field} type='text' role='combobox' aria-expanded aria-controls={id} aria-autocomplete='list' maxLength={200}
              aria-activedescendant={options.length > 0 ? `${id} ${current}` : undefined} spellCheck={false} autoComplete='off'
              aria-label={say('models.search')} placeholder={say('models.search')} value={typed}
              onChange={({ target }) => type(target.value)} onKeyDown={onKeyDown}
            />
          </div>
          <div className='model-note quiet' role='status'>
            {isPending ? say('models.reading') : count === 0 ? say('models.none') : say('models.count', { count })}
            {' '}
            {options.some(({ hasPrice }) => hasPrice) && say('models.prices')}
          </div>
          <Lines list={list} value={value} />
          {error !== null && <Failed error={error} />}
          <ListErrors />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The lines that match the typed text, the current line, which Enter chooses, and the number of rendered lines. */
function useLines ({ value, usual, onChoose }: Props, models: ModelList['models']) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState<number>()
  const [drawn, setDrawn] = useState(DRAWN)
  const lately = useRef(readLatelyUsed())
  const options = useMemo(() => modelOptions({ models, typed, lately: lately.current, usual }), [models, typed, usual])
  // The index of the chosen model's line, or of the model whose whole id was typed.
  const first = Math.max(0, options.findIndex(({ id }) => id === (typed === '' ? value : typed.trim())))
  const current = Math.min(at ?? first, options.length - 1)
  const count = Math.max(drawn, current + PAGE)

  const take = (option: ModelOption | undefined) => {
    if (option !== undefined && !option.isUnavailable) onChoose(option.id)
  }
  return {
    id: useId(),
    typed,
    options,
    current,
    count,
    point: setAt,
    take,
    drawMore: () => setDrawn(count + DRAWN),
    type (text: string) {
      setTyped(text)
      setAt(undefined)
      setDrawn(DRAWN)
    },
    onKeyDown (event: KeyboardEvent) {
      if (event.nativeEvent.isComposing) return
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }[event.key]
      if (step !== undefined && options.length > 0) {
        event.preventDefault()
        const next = current + step
        // The arrow keys wrap around.
        setAt(Math.abs(step) === 1 ? (next + options.length) % options.length : Math.max(0, Math.min(options.length - 1, next)))
      } else if (event.key === 'Enter') {
        event.preventDefault()
        if (!event.repeat) take(options[current])
      }
    }
  }
}

/** The lines in their groups. Of a long list, only the lines up to the scroll position or the current line are rendered. */
function Lines ({ list, value }: { list: ReturnType<typeof useLines>, value: string }) {
  const { id, options, current, count, point, take, drawMore } = list
  useEffect(() => {
    document.getElementById(`${id} ${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, current, options])
  const onScroll = ({ currentTarget: { scrollTop, clientHeight, scrollHeight } }: UIEvent) => {
    if (count < options.length && scrollTop + clientHeight > scrollHeight - NEAR) drawMore()
  }
  return (
    <div id={id} role='listbox' aria-label={say('models.list')} className='palette-list model-list' onScroll={onScroll}>
      {groupsOf(options.slice(0, count)).map(({ name, from, lines }) => (
        <div key={`${name} ${from}`} role='group' aria-label={name === '' ? say('models.others') : name}>
          {name !== '' && <p role='presentation' className='model-group'><VisibleText text={name} limit={100} /></p>}
          {lines.map((option, n) => (
            <Line
              key={option.id} option={option} id={`${id} ${from + n}`} isCurrent={from + n === current} isChosen={option.id === value}
              place={from + n + 1} count={options.length} onPoint={() => point(from + n)} onTake={() => take(option)}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

/** Returns the lines under their headings, with the index of each heading's first line. */
function groupsOf (options: ModelOption[]) {
  const groups: Array<{ name: string, from: number, lines: ModelOption[] }> = []
  for (const [place, option] of options.entries()) {
    const last = groups.at(-1)
    if (last?.name === option.group) last.lines.push(option)
    else groups.push({ name: option.group, from: place, lines: [option] })
  }
  return groups
}

interface LineProps {
  option: ModelOption
  id: string
  isCurrent: boolean
  isChosen: boolean
  place: number
  count: number
  onPoint: () => void
  onTake: () => void
}

function Line ({ option, id, isCurrent, isChosen, place, count, onPoint, onTake }: LineProps) {
  const { id: model, name, alias, facts, isUnavailable } = option
  return (
    <div
      id={id} role='option' aria-selected={isCurrent} aria-disabled={isUnavailable || undefined} aria-posinset={place} aria-setsize={count}
      className='model-line' title={model} onPointerMove={onPoint} onClick={onTake}
    >
      {isChosen ? <Check /> : <span />}
      <span className='model-name'>
        <VisibleText text={name} limit={200} />
        {isChosen && <span className='visually-hidden'> ({say('models.isChosen')})</span>}
        {alias !== '' && <span className='model-facts quiet'><VisibleText text={alias} limit={200} /></span>}
      </span>
      {facts !== '' && <span className='model-facts quiet'><VisibleText text={facts} limit={400} /></span>}
    </div>
  )
}
