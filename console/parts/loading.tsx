import { say } from '../lib/say.ts'

export const Loading = () => <p className='loading' role='status'>{say('app.loading')}</p>
