import type { Plan as TaskPlan } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../../parts/visible-text.tsx'

/** The phases of a plan, and the criteria for judging its result. */
export function Plan ({ plan: { phases, qualityCriteria, expects, source } }: { plan: TaskPlan }) {
  return (
    <section className='section' aria-label={say('tasks.plan')}>
      <h2>{say('tasks.plan')}</h2>
      <p className='quiet'>
        {say(`tasks.planBy.${source}`)}{expects !== undefined && ` ${say(`tasks.expects.${expects}`)}`}
      </p>
      <ol className='numbered'>
        {phases.map(({ id, description }) => <li key={id}><VisibleText text={description} limit={1_000} /></li>)}
      </ol>
      {qualityCriteria.length > 0 && (
        <>
          <h3>{say('tasks.criteria')}</h3>
          <ul className='bulleted'>{qualityCriteria.map((text, at) => <li key={at}><VisibleText text={text} limit={1_000} /></li>)}</ul>
        </>
      )}
    </section>
  )
}
