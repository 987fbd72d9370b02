import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { say } from '../../lib/say.ts'
import { Time } from '../../parts/time.tsx'
import { ToolName } from '../../parts/tool-name.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import type { Task } from './task-queries.ts'

/** The maximum number of entries of each list, newest first. */
const SHOWN = 100
const LEARNED = ['findings', 'decisions', 'sources', 'filesCreated'] as const

/** The task's memory, and the user's comments and decisions. Collapsed at first. */
export function History ({ task: { memory, steeringHistory, approvalHistory } }: { task: Task }) {
  const isEmpty = [...Object.values(memory), steeringHistory, approvalHistory].every((list) => list.length === 0)
  if (isEmpty) return null
  return (
    <section className='section' aria-label={say('tasks.history')}>
      <h2>{say('tasks.history')}</h2>
      {LEARNED.map((name) => (
        <Entries
          key={name}
          title={say(`tasks.memory.${name}`)}
          entries={memory[name].map((text) => <VisibleText key={text} text={text} limit={1_000} />)}
        />
      ))}
      <Entries
        title={say('tasks.comments')}
        entries={steeringHistory.map(({ id, comment, createdAt, runId }) => (
          <span key={id}>
            <Time at={createdAt} />: <VisibleText text={comment} limit={1_000} /> {runId === undefined
              ? <span className='quiet'>({say('tasks.notYetTold')})</span>
              : <Link href={`/runs/${runId}`}>{say('tasks.toldTo')}</Link>}
          </span>
        ))}
      />
      <Entries
        title={say('tasks.decisions')}
        entries={approvalHistory.map(({ approvalId, at, kind, toolName, approved, expired, notes, runId, runNumber }) => (
          <span key={approvalId}>
            <Time at={at} />: {say(expired ? 'tasks.expired' : approved ? 'tasks.approved' : 'tasks.rejected')} {say(`tasks.asked.${kind}`)}
            {toolName !== undefined && <> “<ToolName name={toolName} />”</>}{' '}
            <Link href={`/runs/${runId}`}>{say('run.number', { number: runNumber })}</Link>
            {notes !== undefined && <> <VisibleText text={notes} limit={1_000} /></>}
          </span>
        ))}
      />
      <Entries
        title={say('tasks.feedback')}
        entries={memory.feedback.map(({ runId, at, notes }) => (
          <span key={runId + at}>
            <Time at={at} />: <VisibleText text={notes} limit={1_000} />{' '}
            <Link href={`/runs/${runId}`}>{say('tasks.toRun')}</Link>
          </span>
        ))}
      />
    </section>
  )
}

function Entries ({ title, entries }: { title: string, entries: ReactNode[] }) {
  if (entries.length === 0) return null
  return (
    <details>
      <summary>{title} ({entries.length})</summary>
      <ul className='bulleted'>{entries.slice(-SHOWN).reverse().map((entry, at) => <li key={at}>{entry}</li>)}</ul>
    </details>
  )
}
