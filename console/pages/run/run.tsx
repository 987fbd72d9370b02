import { useQuery } from '@tanstack/react-query'
import { getRun, type Phase, type Run } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Values } from '../../parts/call/values.tsx'
import { Changes } from '../../parts/changes/changes.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { WaitingSection } from '../../parts/waiting/waiting-section.tsx'
import { Calls } from './calls.tsx'
import { Evaluation } from './evaluation.tsx'
import { LiveText } from './live-text.tsx'
import { Result } from './result.tsx'
import { RunActions, SteerTask } from './run-actions.tsx'
import { RunFacts } from './run-facts.tsx'
import { isOver, isRehearsal } from './run-words.ts'
import { Sheet } from './sheet.tsx'
import '../tasks/tasks.css'
import './run.css'

/** The page of one run, of a task or a chat, active or ended: its calls, its result, and the changes that can be undone. */
export default function RunPage ({ id }: { id: string }) {
  const query = useQuery({ queryKey: keys.run(id), queryFn: () => getRun({ ...asked(), path: { runId: id } }).then(body) })
  const { data } = query
  return <Page title={titleOf(data)}><Loaded query={query}>{(run) => <Sections run={run} />}</Loaded></Page>
}

function titleOf (run?: Run): string {
  if (run !== undefined && isRehearsal(run)) return say('run.rehearsal')
  if (run?.runNumber !== undefined) return say('run.number', { number: run.runNumber })
  return say(run?.threadId === undefined ? 'run.title' : 'run.ofChat')
}

function Sections ({ run }: { run: Run }) {
  return (
    <>
      <RunFacts run={run} />
      <RunActions run={run} />
      {run.input !== undefined && <Input run={run} />}
      <WaitingSection runId={run.runId} />
      {isRehearsal(run) && <Sheet runId={run.runId} isOver={isOver(run)} />}
      {run.status === 'running' && run.threadId !== undefined && <LiveText runId={run.runId} />}
      {isOver(run) && <Result run={run} />}
      {run.evaluation && <Evaluation evaluation={run.evaluation} calls={run.toolCalls} />}
      {run.taskId !== undefined && !isRehearsal(run) && <SteerTask taskId={run.taskId} />}
      {run.phases && run.phases.length > 0 && <Phases phases={run.phases} />}
      <Calls run={run} />
      <Changes runId={run.runId} isOver={isOver(run)} />
    </>
  )
}

/** The size of an input above which it is shown as one text, which can be cut, instead of field by field; in bytes. */
const LARGEST_FIELDS = 50_000

/** The input with which the run began. */
function Input ({ run: { input, inputBytes = 0 } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.given')}>
      <h2>{say('run.given')}</h2>
      <Values value={inputBytes > LARGEST_FIELDS ? JSON.stringify(input) : input} />
    </section>
  )
}

/** The phases of the plan, and the run's progress through them. */
function Phases ({ phases }: { phases: Phase[] }) {
  return (
    <section className='section' aria-label={say('run.phases')}>
      <h2>{say('run.phases')}</h2>
      <ol className='list'>
        {phases.map(({ id, description, status }) => (
          <li key={id} className='row'>
            <span className='phase-status'><Status value={status} /></span>
            <span className='grow'><VisibleText text={description} limit={1_000} /></span>
          </li>
        ))}
      </ol>
    </section>
  )
}
