import { say } from '../lib/say.ts'

/** Lines in the place of what is being read. */
export const Loading = () => (
  <div className='loading' role='status'>
    <span className='visually-hidden'>{say('app.loading')}</span>
    <span /><span /><span />
  </div>
)
