import { say } from '../lib/say.ts'

/** Placeholder lines for content that is being loaded. */
export const Loading = () => (
  <div className='loading' role='status'>
    <span className='visually-hidden'>{say('app.loading')}</span>
    <span /><span /><span />
  </div>
)
