import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { plainMarkdown } from '../../lib/plain-markdown.ts'
import { splitDetail } from '../../lib/plain-words.ts'
import { hasText, say } from '../../lib/say.ts'
import { ServiceText } from '../../parts/service-text.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { UndoRun } from './desk-report.tsx'
import type { EndedRun, OfTask, Passed } from './desk-rows.ts'

/** The maximum number of characters of a report in one line. */
const LINE_SHOWN = 160

/** A line of a list: a state, a subject and a time. */
export function DeskLine ({ state, time, children }: { state?: string, time?: ReactNode, children: ReactNode }) {
  return (
    <li className='desk-line'>
      {state === undefined ? <span /> : <Status value={state} />}
      <div className='desk-what'>{children}</div>
      <span className='quiet'>{time}</span>
    </li>
  )
}

/** An earlier run of a task in one line. */
export function RunLine ({ run }: { run: EndedRun }) {
  const { runId, runNumber, status, completedAt, output = '', error } = run
  return (
    <DeskLine state={status} time={<Time at={completedAt} />}>
      <Link href={`/runs/${runId}`}>{say('run.number', { number: runNumber })}</Link>{' '}
      <span className='quiet'>
        {error === undefined
          ? <VisibleText text={plainMarkdown(output).slice(0, LINE_SHOWN).toWellFormed()} />
          : <ServiceText text={splitDetail(error).sentence} limit={LINE_SHOWN} />}
      </span>{' '}
      <UndoRun run={run} />
    </DeskLine>
  )
}

/** Returns a sentence that says how many planned times passed without a run, and why. */
function sayPassed ({ count, reason }: Passed): string {
  const key = `tasks.reason.${reason}`
  return `${say('inbox.passed', { count })}${hasText(key) ? `: ${say(key)}` : ''}`
}

/** Planned times with the same outcome for the same reason. */
export function PassedTimes (times: Passed) {
  const { fate, count, from, at } = times
  return (
    <DeskLine state={fate} time={count > 1 ? <><Time at={from} /> – <Time at={at} /></> : <Time at={at} />}>
      {sayPassed(times)}
    </DeskLine>
  )
}

/** A task without news: its runs found nothing to do, or it did not run. */
export function QuietTask ({ taskId, name, nothingToDo, passed }: OfTask) {
  return (
    <DeskLine state={nothingToDo > 0 ? 'nothingToDo' : passed[0]?.fate ?? 'notRun'}>
      <Link href={`/tasks/${taskId}`}><VisibleText text={name} limit={200} /></Link>{' '}
      <span className='quiet'>
        {[
          ...nothingToDo > 0 ? [say('inbox.nothingToDo', { count: nothingToDo })] : [],
          ...passed.map(sayPassed)
        ].join(' · ')}
      </span>
    </DeskLine>
  )
}
