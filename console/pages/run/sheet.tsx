import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addGrant, getSheet, startTask, type Sheet as SheetOf, type SheetLine } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { coveredBy } from '../../lib/say-covers.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Covers } from '../../parts/covers.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { Time } from '../../parts/time.tsx'
import { ToolName } from '../../parts/tool-name.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { CallInput, Field } from '../../parts/waiting/call-input.tsx'
import { keepTask, oneTask } from '../tasks/task-queries.ts'

type Scope = SheetLine['scopes'][number]['scope']

/** The sheet of a rehearsal: a line for each call that would ask, with the scopes that can be accepted. */
export function Sheet ({ runId, isOver }: { runId: string, isOver: boolean }) {
  const query = useQuery({
    queryKey: [...keys.run(runId), 'sheet'],
    queryFn: () => getSheet({ ...asked(), path: { runId } }).then(body)
  })
  return <Loaded query={query}>{(sheet) => <Lines sheet={sheet} isOver={isOver} />}</Loaded>
}

function Lines ({ sheet, isOver }: { sheet: SheetOf, isOver: boolean }) {
  const { threadId, lines, void: isVoid } = sheet
  const [chosen, setChosen] = useState<Record<number, Scope>>({})
  const canAccept = isOver && isVoid === undefined && lines.some((line) => line.scopes.length > 0)
  return (
    <section className='section' aria-label={say('sheet.title')}>
      <h2>{say('sheet.title')}</h2>
      <p className='quiet'>{say(isOver ? 'sheet.text' : 'sheet.underWay')}</p>
      {isVoid !== undefined && <p className='bad'><ServiceText text={isVoid} limit={500} /></p>}
      {isOver && lines.length === 0 && <p>{say('sheet.nothing')}</p>}
      <ol className='sheet'>
        {lines.map((line) => (
          <Line
            key={line.line}
            line={line}
            chosen={chosen[line.line]}
            onChoose={canAccept && line.void === undefined ? (scope) => setChosen(withChoice(chosen, line.line, scope)) : undefined}
          />
        ))}
      </ol>
      {isOver && <Actions sheet={sheet} canAccept={canAccept} chosen={chosen} setChosen={setChosen} />}
      {isOver && threadId !== undefined && (
        <p><Link className='button' href={`/chat/${encodeURIComponent(threadId)}`}>{say('sheet.toChat')}</Link></p>
      )}
    </section>
  )
}

interface ActionsProps {
  sheet: SheetOf
  canAccept: boolean
  chosen: Record<number, Scope>
  setChosen: (chosen: Record<number, Scope>) => void
}

/** Buttons that accept the chosen lines. For overnight work that was not started yet, they also start it. */
function Actions ({ sheet: { runId, taskId, lines }, canAccept, chosen, setChosen }: ActionsProps) {
  const announce = useAnnounce()
  const [, navigate] = useLocation()
  const { data: task } = useQuery({ ...oneTask(taskId ?? ''), enabled: taskId !== undefined })
  const isPlanned = task?.status === 'planned' && task.endsAt !== undefined
  const count = Object.keys(chosen).length
  const accept = useMutation({
    async mutationFn (starts: boolean) {
      const accepted = Object.entries(chosen).map(([line, scope]) => ({ line: Number(line), scope }))
      if (accepted.length > 0) await addGrant({ ...asked(), body: { sheet: runId, lines: accepted } })
      setChosen({})
      const changed = [keys.run(runId), keys.grants(), ...taskId === undefined ? [] : [keys.task(taskId)]]
      await Promise.all(changed.map((queryKey) => queries.invalidateQueries({ queryKey })))
      return starts ? startTask({ ...asked(), path: { id: taskId! } }).then(body) : undefined
    },
    onSuccess (started) {
      announce(say(started === undefined ? 'sheet.done' : 'tasks.done.start'))
      if (started === undefined) return
      keepTask(started)
      navigate(`/tasks/${started.id}`)
    }
  })
  const narrowest = () => Object.fromEntries(lines.flatMap((line) =>
    line.void === undefined && line.accepted === undefined && line.scopes.length > 0 ? [[line.line, line.scopes[0].scope]] : []))
  return (
    <>
      <div className='actions'>
        {isPlanned && (
          <Button kind='primary' isBusy={accept.isPending && accept.variables} onClick={() => accept.mutate(true)}>
            {count === 0 ? say('sheet.start') : say('sheet.acceptAndStart', { count })}
          </Button>
        )}
        {canAccept && (
          <>
            <Button
              kind={isPlanned ? 'normal' : 'primary'}
              disabled={count === 0}
              isBusy={accept.isPending && !accept.variables}
              aria-describedby={count === 0 ? 'sheet-choose' : undefined}
              onClick={() => accept.mutate(false)}
            >
              {count === 0 ? say('sheet.acceptNone') : say('sheet.accept', { count })}
            </Button>
            <Button kind='quiet' onClick={() => setChosen(narrowest())}>{say('sheet.chooseAll')}</Button>
            {count === 0 && <span id='sheet-choose' className='quiet'>{say('sheet.choose')}</span>}
          </>
        )}
      </div>
      {accept.isError && <Failed error={accept.error} />}
    </>
  )
}

function withChoice (chosen: Record<number, Scope>, line: number, scope: Scope | undefined): Record<number, Scope> {
  const { [line]: _, ...others } = chosen
  return scope === undefined ? others : { ...others, [line]: scope }
}

interface LineProps {
  line: SheetLine
  chosen?: Scope
  /** Absent if nothing can be accepted. */
  onChoose?: (scope: Scope | undefined) => void
}

function Line ({ line, chosen, onChoose }: LineProps) {
  const { line: number, toolName, input, count, outcome, asks, guess, reason, boundary, toolServer, scopes, accepted } = line
  const offered = scopes.find(({ scope }) => scope === accepted?.scope)
  return (
    <li className='sheet-line'>
      <div>
        <ToolName name={toolName} /> {toolServer && <span className='quiet'><VisibleText text={toolServer.name} /></span>}
        {count > 1 && <span className='quiet'> · {say('sheet.times', { count })}</span>}
        <span className='quiet'> · {say(`sheet.outcome.${outcome}`)}</span>
        {guess && <span className='quiet'> · {say('sheet.guess')}</span>}
      </div>
      <CallInput input={input}>
        {boundary && <Field name={say('approval.boundary')}><ServiceText text={boundary.text} /></Field>}
        {reason !== undefined && <Field name={say('sheet.reason')}><ServiceText text={reason} limit={500} /></Field>}
      </CallInput>
      {!asks && outcome === 'unknown' && <p className='quiet'>{say('sheet.unasked')}</p>}
      {asks && scopes.length === 0 && outcome !== 'question' && <p className='quiet'>{say('sheet.always')}</p>}
      {line.void !== undefined && <p className='quiet'><ServiceText text={line.void} limit={500} /></p>}
      {accepted && (
        <p className='quiet'>
          {say('sheet.accepted')} <Time at={accepted.at} />{offered && <>: <Covers text={coveredBy(offered.text)} /></>}
        </p>
      )}
      {onChoose !== undefined && scopes.length > 0 && (
        <Later line={number} scopes={scopes} chosen={chosen} isAccepted={accepted !== undefined} onChoose={onChoose} />
      )}
    </li>
  )
}

interface LaterProps extends Pick<SheetLine, 'line' | 'scopes'> {
  chosen?: Scope
  isAccepted: boolean
  onChoose: (scope: Scope | undefined) => void
}

/** The scopes of a line that can be accepted for later runs, narrowest first. */
function Later ({ line, scopes, chosen, isAccepted, onChoose }: LaterProps) {
  const option = (scope: Scope | undefined, text: ReactNode) => (
    <label key={scope ?? ''}>
      <input type='radio' name={`line-${line}`} checked={chosen === scope} onChange={() => onChoose(scope)} /> <span>{text}</span>
    </label>
  )
  return (
    <fieldset className='sheet-later'>
      <legend>{say('sheet.later')}</legend>
      {option(undefined, say(isAccepted ? 'sheet.leave' : 'sheet.ask'))}
      {scopes.map(({ scope, text }) => option(scope, <Covers text={coveredBy(text)} />))}
    </fieldset>
  )
}
