import { Link } from 'wouter'
import { hasText, say } from '../../lib/say.ts'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import type { Denied, OfTask, Passed } from './digest-rows.ts'
import { DeniedCall } from './denied-call.tsx'
import { DigestLine, RunLine } from './digest-line.tsx'

/** What happened to one task: each run that is worth a look, and everything else as one line of each kind. */
export function DigestTask ({ taskId, name, runs, nothingToDo, denied, passed }: OfTask) {
  const to = `/tasks/${taskId}`
  return (
    <li className='digest-task'>
      <h3><Link href={to}><VisibleText text={name} /></Link></h3>
      <ul>
        {runs.items.map((run) => <RunLine key={run.runId} {...run} />)}
        {runs.more > 0 && <DigestLine><Link href={to}>{say('inbox.moreRuns', { count: runs.more })}</Link></DigestLine>}
        {denied.map((call) => <DeniedCall key={keyOf(call)} {...call} />)}
        {nothingToDo > 0 && <DigestLine state='nothingToDo'>{say('inbox.nothingToDo', { count: nothingToDo })}</DigestLine>}
        {passed.map((times) => <PassedTimes key={`${times.fate} ${times.reason}`} {...times} />)}
      </ul>
    </li>
  )
}

const keyOf = ({ runId, toolName, about }: Denied) => `${runId} ${toolName} ${about}`

/** Planned times that had the same fate for the same reason. */
function PassedTimes ({ fate, reason, count, from, at }: Passed) {
  const key = `tasks.reason.${reason}`
  return (
    <DigestLine state={fate} time={count > 1 ? <><Time at={from} /> – <Time at={at} /></> : <Time at={at} />}>
      {say('inbox.passed', { count })}{hasText(key) && `: ${say(key)}`}
    </DigestLine>
  )
}
