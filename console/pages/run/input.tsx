import type { Run } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Values } from '../../parts/call/values.tsx'

/** A larger input is shown as one text, which can be cut, and not field by field; bytes. */
const LARGEST_FIELDS = 50_000

/** The data that the run began with. */
export function Input ({ run: { input, inputBytes = 0 } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.given')}>
      <h2>{say('run.given')}</h2>
      <Values value={inputBytes > LARGEST_FIELDS ? JSON.stringify(input) : input} />
    </section>
  )
}
